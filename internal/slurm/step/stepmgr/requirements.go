package stepmgr

import (
	"slices"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// requirements describes what a step requires: the number of tasks on each of its nodes, which are chosen from
// candidates, and the processors and accelerators for these tasks.
type requirements struct {
	candidates []int // nodes of the job, in order of preference
	counts     []int // number of tasks, by node of the step
	cpus       int   // number of processors per task
	gpus       []int // number of accelerators, by node of the step; nil if the step requests none
	overlap    bool
}

// chooseNodes returns the first candidates that have enough free processors and accelerators. It returns nil if there
// are too few such candidates.
func (w *requirements) chooseNodes(used []int, cpus int, free [][]int) []int {
	var nodes []int
	for _, node := range w.candidates {
		if len(nodes) == len(w.counts) {
			break
		}
		at := len(nodes)
		hasProcessors := used[node]+w.counts[at]*w.cpus <= cpus
		hasAccelerators := w.gpus == nil || w.gpus[at] <= len(free[node])
		if w.overlap || (hasProcessors && hasAccelerators) {
			nodes = append(nodes, node)
		}
	}
	if len(nodes) < len(w.counts) {
		return nil
	}
	return nodes
}

// countGPUsPerNode returns the number of accelerators that a step requires on each of its nodes. room is the number of
// accelerators on each node of the job. ok is false if a node can never provide the required number.
func countGPUsPerNode(r *protocol.GPURequest, counts []int, room int) (each []int, ok bool) {
	switch {
	case r.PerTask > 0:
		for _, tasks := range counts {
			each = append(each, tasks*r.PerTask)
		}
	case r.Total > 0:
		each = launchconfig.SpreadTasks(r.Total, len(counts), 0)
	default:
		each = launchconfig.RepeatCount(r.PerNode, len(counts))
	}
	return each, slices.Max(each) <= room
}
