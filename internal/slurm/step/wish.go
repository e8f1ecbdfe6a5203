package step

import (
	"fmt"
	"slices"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// wish is what a step needs: some of the candidates, with so many tasks on each.
type wish struct {
	candidates []int // nodes of the job, in the order in which they are taken
	counts     []int // tasks by node of the step
	cpus       int   // of each task
	gpus       []int // by node of the step; nil when it asks for none in particular
	overlap    bool
}

// plan says what a step needs of the job, whoever else is there; an error is of a step that can never be.
func (h *head) plan(r *beginRequest) (*wish, error) {
	impossible := func(hint, why string) error {
		return fault.Errorf(hint, "Unable to create step for job %s: %s", h.pod.ID(), why)
	}
	candidates, err := h.candidates(r)
	if err != nil {
		return nil, impossible(fault.Of(err).Hint, err.Error())
	}
	nodes := r.Nodes
	switch {
	case nodes > len(candidates):
		return nil, impossible(fmt.Sprintf("ask for no more than %d", len(candidates)), "Requested node configuration is not available")
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
		for _, count := range launch.Spread(h.spec.TasksOf(len(h.hosts)), len(h.hosts), perNode)[:nodes] {
			tasks += count
		}
	}
	if perNode > 0 && perNode*nodes < tasks {
		if r.PerNode > 0 {
			return nil, impossible("ask for more nodes, or for fewer tasks", "More tasks requested than --ntasks-per-node has room for")
		}
		perNode = 0
	}
	if tasks < nodes {
		return nil, impossible(fmt.Sprintf("write --nodes=%d, or more tasks", tasks), fmt.Sprintf("%d tasks cannot run on %d nodes", tasks, nodes))
	}
	w.counts = launch.Spread(tasks, nodes, perNode)
	if slices.Max(w.counts)*w.cpus > h.spec.CPUs && !r.Overlap {
		return nil, impossible(fmt.Sprintf("a node of the job has %d: ask for fewer tasks, or share them with --overcommit", h.spec.CPUs), "More processors requested than permitted")
	}
	if r.GPUs != nil {
		each, ok := r.GPUs.needs(w.counts, h.spec.GPUsOnNode)
		switch {
		case !ok && r.GPUs.Inherited:
			each = nil
		case !ok:
			return nil, impossible("ask for no more than those", fmt.Sprintf("Invalid generic resource (gres) specification: a node of the job has %d accelerators", h.spec.GPUsOnNode))
		}
		w.gpus = each
	}
	return w, nil
}

// candidates are the nodes that a step may have.
func (h *head) candidates(r *beginRequest) ([]int, error) {
	for _, name := range append(slices.Clone(r.Only), r.Not...) {
		if !slices.Contains(h.hosts, name) {
			return nil, fault.Errorf("its nodes are "+hostlist.Compress(slices.Clone(h.hosts)), "Requested node configuration is not available (%s is no node of this job)", name)
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
		return nil, fault.Errorf("nodes are counted from 0", "Requested node configuration is not available (--relative=%d of %d nodes)", r.Relative, len(h.hosts))
	}
	for i := r.Relative; i < len(h.hosts); i++ {
		if !slices.Contains(r.Not, h.hosts[i]) {
			candidates = append(candidates, i)
		}
	}
	return candidates, nil
}

// choose finds nodes for the counts, first come: nil when too few have processors and accelerators left.
func (w *wish) choose(used []int, cpus int, free [][]int) []int {
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
