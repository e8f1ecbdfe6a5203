package translate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/test/propertytest"
)

// Every combination of options is rejected, or it has a place for every task and all requested GPUs.
func TestNoTaskAndNoGPUIsLost(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 500, func(rt *rapid.T) {
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
		tasks := s.DefaultTaskCount(s.Nodes)
		placed := 0
		for _, n := range launchconfig.SpreadTasks(tasks, s.Nodes, s.TasksPerNode) {
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

// If the size depends on unknown facts about the cluster, a note explains that.
func TestSizesWithoutNodes(t *testing.T) {
	t.Parallel()
	const note = "the cluster's nodes are unknown, so all tasks run in one pod; use --nodes to specify the number of pods"
	for line, told := range map[string]bool{"-n 40": true, "-G 16": true, "-n1": false, "": false, "-n40 -N2": false} {
		r, err := try(t, line, func(in *Input) { in.Facts.Nodes = nil })
		if err != nil || slices.Contains(r.NoteTexts(), note) != told {
			t.Errorf("%s: %v, %v", line, r, err)
		}
	}
}

func TestAJobUsesTheNodesOfTheProfileOnly(t *testing.T) {
	t.Parallel()
	process := map[string]string{"vc-batch.dev/node-kind": "process"}
	nodes := []Node{{Count: 2, Labels: process, Allocatable: amounts("2", "8Gi", "")}, {Count: 100, Allocatable: amounts("64", "256Gi", "")}}
	with := func(in *Input) {
		p := *in.Profile
		p.NodeSelector, in.Profile, in.Facts.Nodes = process, &p, nodes
	}
	r, err := try(t, "-n 4", with)
	if err != nil || r.Spec.Nodes != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, task := range r.Job.Spec.Tasks {
		terms := task.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		if got := terms[0].MatchExpressions[0]; got.Key != "vc-batch.dev/node-kind" || got.Values[0] != "process" {
			t.Errorf("task %s: %+v", task.Name, terms)
		}
	}
	if _, err := try(t, "-n 5", with); err == nil {
		t.Error("five tasks have no room on two nodes of two processors")
	}
}

// Without --nodes a job has the smallest number of pods that all fit at once on nodes that the job may use.
func TestPodsThatHaveRoom(t *testing.T) {
	t.Parallel()
	const none, many = "Requested node configuration is not available", "Node count specification invalid"
	unlike := []Node{
		{Count: 1, Labels: map[string]string{"kubernetes.io/hostname": "big"}, Allocatable: amounts("64", "256Gi", "")},
		{Count: 100, Labels: map[string]string{"nvlink": "true"}, Allocatable: amounts("8", "64Gi", "")},
	}
	two := []Node{{Count: 1, Allocatable: amounts("12", "64Gi", "")}, {Count: 1, Allocatable: amounts("4", "64Gi", "")}}
	cards := []Node{
		{Count: 4, Group: "gpu", Labels: map[string]string{"nvidia.com/gpu.product": "A100-80"}, Allocatable: amounts("8", "64Gi", "4")},
		{Count: 96, Group: "gpu", Allocatable: amounts("8", "64Gi", "8")},
	}
	drained := []Node{{Count: 4, Away: true, Allocatable: amounts("16", "64Gi", "")}, {Count: 2, Allocatable: amounts("8", "64Gi", "")}}
	for _, c := range []struct {
		line  string
		nodes []Node
		want  int
		why   string
	}{
		{"-n 64", unlike, 1, ""},
		{"-n 128", unlike, 16, ""}, // only one node has room for 64 tasks
		{"-n 864", unlike, 108, ""},
		{"-n 865", unlike, 0, none},
		{"-n 20000 --mem=10T", unlike, 0, none},
		{"-n 20 -C nvlink", unlike, 3, ""},
		{"-n 20 -x big", unlike, 3, ""},
		{"-n 64 -w big", unlike, 1, ""},
		{"-n 65 -w big", unlike, 0, none},
		{"-n 40 -C ib", unlike, 1, ""},
		{"-n 16", two, 4, ""},
		{"-n 16 --exclusive", two, 0, none},
		{"-G 16 -p gpu", cards, 2, ""},
		{"-G a100:16 -p gpu", cards, 4, ""},
		{"-n 64 -p gpu", cards, 8, ""},
		{"-n 65 -p gpu", cards, 0, none},
		{"-n 20 --ntasks-per-node=2 -p gpu", cards, 0, many},
		{"-n 16", drained, 2, ""},
		{"-n 17", drained, 2, ""},
	} {
		r, err := try(t, c.line, func(in *Input) { in.Facts.Nodes = c.nodes })
		switch {
		case c.why != "":
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v, want %s", c.line, err, c.why)
			}
		case err != nil:
			t.Errorf("%s: %v", c.line, err)
		case r.Spec.Nodes != c.want:
			t.Errorf("%s: %d pods, want %d", c.line, r.Spec.Nodes, c.want)
		}
	}
	const note = "no known node of queue default can run the job, so all tasks run in one pod; use --nodes to specify the number of pods"
	if r, err := try(t, "-n 40 -C ib", func(in *Input) { in.Facts.Nodes = unlike }); err != nil || !slices.Contains(r.NoteTexts(), note) {
		t.Errorf("%+v, %v", r, err)
	}
}
