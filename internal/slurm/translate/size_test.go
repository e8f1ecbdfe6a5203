package translate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/slurm/launch"
	"github.com/vc-batch/vc/test/seeds"
)

// Whatever is asked for together: it is refused, or every task has a place and every GPU that was asked for is there.
func TestNoTaskAndNoGPUIsLost(t *testing.T) {
	t.Parallel()
	seeds.Check(t, 500, func(rt *rapid.T) {
		asked := map[string]int{}
		var words []string
		for _, option := range []string{"nodes", "ntasks", "ntasks-per-node", "gpus", "gpus-per-node", "gpus-per-task", "ntasks-per-gpu", "cpus-per-task"} {
			if n := rapid.IntRange(-8, 8).Draw(rt, option); n > 0 {
				asked[option] = n
				words = append(words, fmt.Sprintf("--%s=%d", option, n))
			}
		}
		line := strings.Join(words, " ")
		r, err := try(t, line)
		if err != nil {
			return
		}
		s := r.Spec
		tasks := s.TasksOf(s.Nodes)
		placed := 0
		for _, n := range launch.Spread(tasks, s.Nodes, s.TasksPerNode) {
			placed += n
			if each := max(s.CPUsPerTask, 1); n*each > s.CPUs {
				rt.Errorf("%s: %d tasks of %d processors on a node with %d", line, n, each, s.CPUs)
			}
			if n*asked["gpus-per-task"] > s.GPUsOnNode {
				rt.Errorf("%s: %d tasks on a node with %d GPUs", line, n, s.GPUsOnNode)
			}
		}
		if placed != tasks || asked["ntasks"] > 0 && tasks != asked["ntasks"] {
			rt.Errorf("%s: %d tasks of %d have a place", line, placed, tasks)
		}
		if all := s.GPUsOnNode * s.Nodes; asked["gpus"] > 0 && all != asked["gpus"] || s.GPUsOnNode < asked["gpus-per-node"] {
			rt.Errorf("%s: %d nodes with %d GPUs", line, s.Nodes, s.GPUsOnNode)
		}
	})
}

func TestFewerTasksThanNodes(t *testing.T) {
	t.Parallel()
	r, err := try(t, "-N4 -n2")
	if err != nil || !slices.Contains(r.Warnings, "can't run 2 processes on 4 nodes, setting nnodes to 2") || r.Spec.Nodes != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What is not known of the cluster is said, where the size follows from it.
func TestSizesWithoutNodes(t *testing.T) {
	t.Parallel()
	const note = "the cluster's nodes are not known: all tasks are in one pod; say with --nodes how many there are to be"
	for line, told := range map[string]bool{"-n 40": true, "-G 16": true, "-n1": false, "": false, "-n40 -N2": false} {
		r, err := try(t, line, func(in *Input) { in.Facts.Nodes = nil })
		if err != nil || slices.Contains(r.Notes, note) != told {
			t.Errorf("%s: %v, %v", line, r, err)
		}
	}
}
