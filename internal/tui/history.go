package tui

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/history"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/queuerow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// recordHistory records the amounts of the current snapshot if a record is due.
func (a *App) recordHistory() {
	isLoading := a.ctx.Snap.Connection.Link == snapshot.LinkLoading
	if isLoading || !a.ctx.History.IsDue(a.ctx.Now) {
		return
	}
	a.ctx.History.Record(a.ctx.Now, measureSnapshot(a.ctx.Snap))
}

// measureSnapshot returns the current value of each series.
func measureSnapshot(snap *snapshot.Snapshot) map[history.Series]float64 {
	values := map[history.Series]float64{}
	isUseKnown := len(snap.Nodes) > 0 && !snap.Nodes[0].Unknown
	for _, shown := range screenapi.ShownResources(snap) {
		name := corev1.ResourceName(shown)
		for _, q := range snap.Queues {
			values[history.Series{Kind: history.Allocated, Queue: q.Name, Resource: name}] = float64(queuerow.NumbersOfQueue(q, name).Allocated)
		}
		values[history.Series{Kind: history.Pending, Resource: name}] = float64(pendingAmount(snap.Jobs, name))
		if isUseKnown {
			_, idle := noderow.TotalAmount(snap.Nodes, name)
			values[history.Series{Kind: history.Idle, Resource: name}] = float64(idle)
			values[history.Series{Kind: history.Allocated, Resource: name}] = float64(allocatedAmount(snap.Nodes, name))
		}
	}
	for _, q := range snap.Queues {
		values[history.Series{Kind: history.Waiting, Queue: q.Name}] = float64(q.Waiting)
	}
	return values
}

// allocatedAmount returns how much of a resource the pods on all nodes request. Together with the idle amount, it can be
// less than the allocatable amount, because nodes that are cordoned or down have nothing idle.
func allocatedAmount(nodes []*snapshot.Node, name corev1.ResourceName) int64 {
	var sum int64
	for _, node := range nodes {
		used, _ := noderow.UsedAmount(node, name)
		sum += used
	}
	return sum
}

// pendingAmount returns how much of a resource the jobs request that wait for their first node. It is 0 for resources
// other than CPU, memory, pods and GPUs, because snapshots do not contain these requests.
func pendingAmount(jobs []*snapshot.Job, name corev1.ResourceName) int64 {
	var sum int64
	for _, job := range jobs {
		hasStarted := job.Bound > 0 || job.PodsOnNodes > 0
		if hasStarted || jobstatus.IsFinishedPhase(job.Phase) {
			continue
		}
		switch {
		case name == corev1.ResourceCPU:
			sum += job.MilliCPU
		case name == corev1.ResourceMemory:
			sum += job.MemoryBytes
		case name == corev1.ResourcePods:
			sum += int64(job.Replicas)
		case render.IsGPU(name):
			sum += job.GPUs
		}
	}
	return sum
}
