package step

import (
	"fmt"
	"slices"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/usererror"
)

// wish describes the requirements of a step: the number of tasks on each of its nodes, which are chosen from the
// candidates.
type wish struct {
	candidates []int // nodes of the job, in order of preference
	counts     []int // number of tasks, by node of the step
	cpus       int   // number of processors per task
	gpus       []int // number of accelerators, by node of the step; nil if the step requests none
	overlap    bool
}

// planStep returns the requirements of a step, regardless of other steps. It returns an error if the job can never meet
// them.
func (h *head) planStep(r *beginRequest) (*wish, error) {
	impossible := func(hint, why string) error {
		return usererror.Errorf(hint, "Unable to create step for job %s: %s", h.pod.SlurmJobID(), why)
	}
	candidates, err := h.candidateNodes(r)
	if err != nil {
		return nil, impossible(usererror.FromError(err).Hint, err.Error())
	}
	nodes := r.Nodes
	switch {
	case nodes > len(candidates):
		return nil, impossible(fmt.Sprintf("request at most %d", len(candidates)), "Requested node configuration is not available")
	case nodes == 0 && r.Tasks > 0 && r.PerNode > 0:
		nodes = min(len(candidates), (r.Tasks+r.PerNode-1)/r.PerNode)
	case nodes == 0 && r.Tasks > 0 && len(r.Only) == 0:
		nodes = min(len(candidates), r.Tasks)
	case nodes == 0:
		nodes = len(candidates)
	}
	w := &wish{candidates: candidates, cpus: r.CPUs, overlap: r.Overlap}
	if w.cpus == 0 {
		w.cpus = max(h.spec.CPUsPerTask, 1)
	}
	tasks, perNode := r.Tasks, r.PerNode
	switch {
	case tasks == 0 && perNode > 0:
		tasks = nodes * perNode
	case tasks == 0:
		perNode = h.spec.TasksPerNode
		for _, count := range launchconfig.SpreadTasks(h.spec.DefaultTaskCount(len(h.hosts)), len(h.hosts), perNode)[:nodes] {
			tasks += count
		}
	}
	if perNode > 0 && perNode*nodes < tasks {
		if r.PerNode > 0 {
			return nil, impossible("request more nodes or fewer tasks", "More tasks requested than --ntasks-per-node permits")
		}
		perNode = 0
	}
	if tasks < nodes {
		return nil, impossible(fmt.Sprintf("use --nodes=%d or more tasks", tasks), fmt.Sprintf("%d tasks cannot run on %d nodes", tasks, nodes))
	}
	w.counts = launchconfig.SpreadTasks(tasks, nodes, perNode)
	if slices.Max(w.counts)*w.cpus > h.spec.CPUs && !r.Overlap {
		return nil, impossible(fmt.Sprintf("each node of the job has %d: request fewer, or share processors with --overcommit", h.spec.CPUs), "More processors requested than permitted")
	}
	if r.GPUs != nil {
		each, ok := r.GPUs.countPerNode(w.counts, h.spec.GPUsOnNode)
		switch {
		case !ok && r.GPUs.Inherited:
			each = nil
		case !ok:
			return nil, impossible("request at most this number", fmt.Sprintf("Invalid generic resource (gres) specification: each node of the job has %d accelerators", h.spec.GPUsOnNode))
		}
		w.gpus = each
	}
	return w, nil
}

// candidateNodes returns the indexes of the nodes that a step may use.
func (h *head) candidateNodes(r *beginRequest) ([]int, error) {
	for _, name := range append(slices.Clone(r.Only), r.Not...) {
		if !slices.Contains(h.hosts, name) {
			return nil, usererror.Errorf("the nodes of the job are "+hostlist.CompressNames(slices.Clone(h.hosts)), "Requested node configuration is not available (%s is not a node of this job)", name)
		}
	}
	var candidates []int
	if len(r.Only) > 0 {
		for _, name := range r.Only {
			candidates = append(candidates, slices.Index(h.hosts, name))
		}
		slices.Sort(candidates)
		return slices.Compact(candidates), nil
	}
	if r.Relative >= len(h.hosts) {
		return nil, usererror.Errorf("nodes are numbered from 0", "Requested node configuration is not available (--relative=%d of %d nodes)", r.Relative, len(h.hosts))
	}
	for i := r.Relative; i < len(h.hosts); i++ {
		if !slices.Contains(r.Not, h.hosts[i]) {
			candidates = append(candidates, i)
		}
	}
	return candidates, nil
}

// chooseNodes returns the first candidates that have enough free processors and accelerators. It returns nil if there
// are too few of them.
func (w *wish) chooseNodes(used []int, cpus int, free [][]int) []int {
	var nodes []int
	for _, node := range w.candidates {
		if len(nodes) == len(w.counts) {
			break
		}
		at := len(nodes)
		if w.overlap || used[node]+w.counts[at]*w.cpus <= cpus && (w.gpus == nil || w.gpus[at] <= len(free[node])) {
			nodes = append(nodes, node)
		}
	}
	if len(nodes) < len(w.counts) {
		return nil
	}
	return nodes
}
