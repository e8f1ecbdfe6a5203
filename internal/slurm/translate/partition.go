package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// chooseTarget determines the queue and the namespace of the job from its partition and account.
func (s *source) chooseTarget() (target, *part) {
	b := &topic{source: s}
	account, knownAccount := b.p.Accounts[b.r.Account]
	name := b.choosePartition(b.r.Partition)
	if b.r.Account != "" && len(b.p.Accounts) > 0 && !knownAccount {
		known := strings.Join(slices.Sorted(maps.Keys(b.p.Accounts)), ", ")
		b.addError(usererror.Errorf("known accounts: "+known, "Batch job submission failed: Invalid account or account/partition combination specified"))
	}
	if name == "" && account.Queue == "" {
		name = b.p.DefaultPartition
	}
	queue := cmp.Or(b.p.Partitions[name].Queue, name, account.Queue, keys.DefaultQueue)
	b.target = target{partition: cmp.Or(name, queue), queue: queue, namespace: cmp.Or(account.Namespace, b.Namespace)}
	b.launch.Partition, b.launch.Account, b.stored.Account = b.target.partition, b.r.Account, b.r.Account
	b.job.Queue = queue
	if b.target.partition != queue {
		b.stored.Partition = b.target.partition
	}
	if account.Namespace != "" {
		b.recordFields("account", "metadata.namespace")
	}
	if b.r.Account != "" {
		b.labels = map[string]string{keys.Account: labelValue(b.r.Account)}
		b.recordFields("account", keyPath("metadata.labels", keys.Account))
	}
	b.recordFields("partition", "spec.queue")
	b.checkQueue(b.target.partition, queue)
	if b.r.Nodes != nil {
		b.checkNodeCount(int(b.r.Nodes.Min))
	}
	return b.target, &b.part
}

// choosePartition chooses a partition for the job from a list. It returns the first partition that is open and permits
// the job's time limit and number of nodes, or the first partition in the list if none exists. Slurm, in contrast,
// tries all partitions, but here a job is in only one queue.
func (b *topic) choosePartition(list string) string {
	names := strings.Split(list, ",")
	if len(names) == 1 {
		return list
	}
	for _, name := range names {
		b.checkQueue(name, b.queueOfPartition(name))
	}
	chosen := names[0]
	if i := slices.IndexFunc(names, b.permitsJob); i >= 0 {
		chosen = names[i]
	}
	if b.r.Verbose > 0 {
		b.addNote(fmt.Sprintf("the job requested partitions %s and uses partition %s", list, chosen))
	}
	return chosen
}

// queueOfPartition returns the queue of a partition.
func (b *source) queueOfPartition(partition string) string {
	return cmp.Or(b.p.Partitions[partition].Queue, partition)
}

// permitsJob reports whether a partition is open and permits the job's time limit and number of nodes.
func (b *source) permitsJob(partition string) bool {
	known, queue := b.p.Partitions[partition], b.queueOfPartition(partition)
	if slices.ContainsFunc(b.Facts.Queues, func(q Queue) bool { return q.Name == queue && !q.Open }) {
		return false
	}
	if b.exceedsTime(known.MaxTime) {
		return false
	}
	return known.MaxNodes == 0 || b.r.Nodes == nil || b.r.Nodes.Min <= known.MaxNodes
}

// exceedsTime reports whether the job's time limit exceeds the limit of a partition. An empty limit permits any time.
func (b *source) exceedsTime(maxTime string) bool {
	if maxTime == "" || b.r.Time == nil {
		return false
	}
	limit, err := optionvalue.ParseTime(maxTime)
	return err == nil && exceedsLimit(*b.r.Time, limit)
}

// exceedsLimit reports whether limit is longer than most, where Unlimited is longer than any other limit.
func exceedsLimit(limit, most optionvalue.Minutes) bool {
	if most == optionvalue.Unlimited {
		return false
	}
	return limit == optionvalue.Unlimited || limit > most
}

// checkNodeCount adds an error if the partition does not permit the number of nodes.
func (b *topic) checkNodeCount(nodes int) {
	if limit := b.p.Partitions[b.target.partition].MaxNodes; limit > 0 && int64(nodes) > limit {
		b.addError(usererror.Errorf("the node limit of partition "+b.target.partition+" is "+formatNumber(limit), "Batch job submission failed: Node count specification invalid"))
	}
}

// checkQueue adds an error if the queue does not exist.
func (b *topic) checkQueue(partition, queue string) {
	if b.Facts.Queues == nil || slices.ContainsFunc(b.Facts.Queues, func(q Queue) bool { return q.Name == queue }) {
		return
	}
	var open []string
	for _, q := range b.Facts.Queues {
		if q.Open && q.Name != keys.RootQueue {
			open = append(open, q.Name)
		}
	}
	slices.Sort(open)
	b.addError(usererror.Errorf("open queues: "+joinWords(open), "invalid partition specified: %s\nBatch job submission failed: Invalid partition name specified", partition))
}
