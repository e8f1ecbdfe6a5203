package jobrow

import (
	"math"
	"time"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// FilterFields returns the filter keys of jobs at the time now. A filter by queue also matches jobs in the queue's
// descendants.
func FilterFields(snap *snapshot.Snapshot, now time.Time) *filter.Fields[Row] {
	one := func(of func(Row) string) func(Row, []string) []string {
		return func(r Row, to []string) []string { return append(to, of(r)) }
	}
	return &filter.Fields[Row]{
		Words: []filter.Word[Row]{
			{Key: "queue", Also: []string{"q"}, Of: func(r Row, to []string) []string { return appendQueueAndAncestors(to, snap, r.Job.Queue) }},
			{Key: "user", Also: []string{"u"}, Of: one(func(r Row) string { return r.Job.User })},
			{Key: "st", Also: []string{"state"}, Whole: true, Of: func(r Row, to []string) []string {
				return append(to, r.SlurmStateCode(), r.StateText(screenapi.KubernetesWords))
			}},
			{Key: "node", Of: func(r Row, to []string) []string { return appendNodesOfJob(to, r.Job) }},
			{Key: "ns", Also: []string{"namespace"}, Of: one(func(r Row) string { return r.Job.Namespace })},
			{Key: "name", Of: func(r Row, to []string) []string { return append(to, r.Job.Name, r.Job.Title) }},
			{Key: "why", Also: []string{"reason"}, Of: func(r Row, to []string) []string { return append(to, r.Reason(), r.Job.Code) }},
		},
		Numbers: []filter.Number[Row]{
			{Key: "gpu", Also: []string{"gpus"}, Of: func(r Row) float64 { return float64(r.RequestedGPUs()) }},
			{Key: "cpu", Of: func(r Row) float64 { return float64(r.RequestedMilliCPU()) / 1000 }},
			{Key: "mem", Also: []string{"memory"}, Of: func(r Row) float64 { return float64(r.RequestedMemory()) / (1 << 30) }},
			{Key: "gpu%", Of: func(r Row) float64 { return gpuPercent(snap.Usage, r) }},
			{Key: "nodes", Of: func(r Row) float64 { return float64(r.Job.NodeCount) }},
			{Key: "pods", Of: func(r Row) float64 { return float64(r.Job.Replicas) }},
			{Key: "prio", Also: []string{"priority"}, Of: func(r Row) float64 { return float64(r.Job.Priority) }},
			{Key: "time", Time: true, Of: func(r Row) float64 { elapsed, _ := ElapsedTime(r.Job, now); return elapsed.Seconds() }},
			{Key: "since", Time: true, Maximum: true, Of: func(r Row) float64 { return sinceEnd(r.Job, now).Seconds() }},
			{Key: "age", Time: true, Of: func(r Row) float64 { return now.Sub(r.Job.Submitted).Seconds() }},
		},
		Text: func(r Row, to []string) []string {
			return append(to, r.Job.ID, r.Job.Name, r.Job.Title, r.Job.Namespace, r.Job.Queue, r.Job.User, r.Job.NodeList, r.Reason(), r.Job.Code, r.Job.Says, r.StateText(screenapi.KubernetesWords))
		},
	}
}

// gpuPercent returns the mean utilization of a job's GPUs in percent, or NaN, which matches no filter, if it was not
// measured.
func gpuPercent(usage *snapshot.Usage, r Row) float64 {
	measured := measureRow(usage, r).GPU
	if measured == nil {
		return math.NaN()
	}
	return measured.Percent
}

// sinceEnd returns the time since a job ended, or 0 if it has not ended.
func sinceEnd(job *snapshot.Job, now time.Time) time.Duration {
	if job.Ended.IsZero() {
		return 0
	}
	return now.Sub(job.Ended)
}

// appendQueueAndAncestors appends the names of a queue and its ancestors. If the queue is unknown, it appends only its
// name.
func appendQueueAndAncestors(to []string, snap *snapshot.Snapshot, name string) []string {
	before := len(to)
	to = append(to, name)
	for queue := snap.Queue(name); queue != nil && queue.Parent != "" && len(to)-before < 64; queue = snap.Queue(queue.Parent) {
		to = append(to, queue.Parent)
	}
	return to
}

// appendNodesOfJob appends the nodes of a job's pods or, if it has no pods, the nodes in its row.
func appendNodesOfJob(to []string, job *snapshot.Job) []string {
	before := len(to)
	for _, pod := range job.Pods {
		if pod.Node != "" {
			to = append(to, pod.Node)
		}
	}
	if len(to) == before && job.NodeList != "" {
		names, _ := hostlist.ExpandList(job.NodeList)
		to = append(to, names...)
	}
	return to
}
