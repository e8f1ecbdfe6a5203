package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
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

// limits returns the limits of the job's partition.
func (b *topic) limits() profile.Limits { return b.limitsOf(b.target.partition, b.target.queue) }

// limitsOf returns the limits of a partition. If the queues are unknown, they are those of the profile, and the API server
// checks the others.
func (b *source) limitsOf(partition, queue string) profile.Limits {
	var limits schedulingv1beta1.EffectiveJobLimits
	if i := slices.IndexFunc(b.Facts.Queues, func(q Queue) bool { return q.Name == queue }); i >= 0 {
		limits = b.Facts.Queues[i].Limits
	}
	return b.p.LimitsOf(partition, limits)
}

// permitsJob reports whether a partition is open and permits the job's time limit and number of nodes.
func (b *source) permitsJob(partition string) bool {
	queue := b.queueOfPartition(partition)
	if slices.ContainsFunc(b.Facts.Queues, func(q Queue) bool { return q.Name == queue && !q.Open }) {
		return false
	}
	limits := b.limitsOf(partition, queue)
	if b.r.Time != nil && exceedsLimit(*b.r.Time, limits.MaxTime) {
		return false
	}
	return limits.MaxNodes == 0 || b.r.Nodes == nil || b.r.Nodes.Min <= limits.MaxNodes
}

// exceedsLimit reports whether limit is longer than most, where Unlimited is longer than any other limit.
func exceedsLimit(limit, most optionvalue.Minutes) bool {
	if most == optionvalue.Unlimited {
		return false
	}
	return limit == optionvalue.Unlimited || limit > most
}

// checkNodeCount adds an error if the partition does not permit the number of nodes, or of pods in all array elements.
func (b *topic) checkNodeCount(nodes int) {
	limits := b.limits()
	if most := limits.MaxNodes; most > 0 && int64(nodes) > most {
		b.addError(usererror.Errorf("the node limit of partition "+b.target.partition+" is "+formatNumber(most), "Batch job submission failed: Node count specification invalid"))
		return
	}
	if b.r.Array == nil || limits.MaxPods == 0 {
		return
	}
	if pods := int64(b.r.Array.Elements.Count()) * int64(nodes); pods > limits.MaxPods {
		b.addError(usererror.Errorf(fmt.Sprintf("the array has %d nodes in all its tasks together, but partition %s permits at most %d: submit several arrays", pods, b.target.partition, limits.MaxPods),
			"Batch job submission failed: Invalid job array specification"))
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
