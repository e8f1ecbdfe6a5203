package stepmgr

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

func headOf(nodes, cpus int, change ...func(*launchconfig.Spec)) *Manager {
	spec := &launchconfig.Spec{Nodes: nodes, CPUs: cpus}
	for _, f := range change {
		f(spec)
	}
	hosts := make([]string, nodes)
	for i := range hosts {
		hosts[i] = "n" + string(rune('0'+i))
	}
	return New(spec, &launchconfig.Pod{JobID: "42"}, hosts)
}

func TestStepsGetNodes(t *testing.T) {
	t.Parallel()
	eight := func(s *launchconfig.Spec) { s.Tasks = 8 }
	cases := map[string]struct {
		Manager *Manager
		asked   protocol.BeginRequest
		used    []int
		nodes   []int // nil if the step has to wait
		count   []int
		err     string
	}{
		"all tasks of the job on all nodes":   {headOf(4, 4, eight), protocol.BeginRequest{}, nil, []int{0, 1, 2, 3}, []int{2, 2, 2, 2}, ""},
		"two nodes have their part of them":   {headOf(4, 4, eight), protocol.BeginRequest{Nodes: 2}, nil, []int{0, 1}, []int{2, 2}, ""},
		"one task wants one node":             {headOf(4, 4, eight), protocol.BeginRequest{Tasks: 1}, nil, []int{0}, []int{1}, ""},
		"one task a node without anything":    {headOf(3, 1), protocol.BeginRequest{}, nil, []int{0, 1, 2}, []int{1, 1, 1}, ""},
		"tasks a node":                        {headOf(4, 4), protocol.BeginRequest{PerNode: 2}, nil, []int{0, 1, 2, 3}, []int{2, 2, 2, 2}, ""},
		"as few nodes as tasks a node say":    {headOf(4, 4), protocol.BeginRequest{Tasks: 3, PerNode: 2}, nil, []int{0, 1}, []int{2, 1}, ""},
		"those that are named":                {headOf(4, 4), protocol.BeginRequest{Only: []string{"n3", "n1"}}, nil, []int{1, 3}, []int{1, 1}, ""},
		"none of those":                       {headOf(3, 4), protocol.BeginRequest{Not: []string{"n0"}}, nil, []int{1, 2}, []int{1, 1}, ""},
		"from the third on":                   {headOf(4, 4), protocol.BeginRequest{Relative: 2}, nil, []int{2, 3}, []int{1, 1}, ""},
		"those that are free":                 {headOf(4, 2), protocol.BeginRequest{Tasks: 1, CPUs: 2}, []int{2, 1, 0, 0}, []int{2}, []int{1}, ""},
		"busy nodes are waited for":           {headOf(2, 2), protocol.BeginRequest{Tasks: 4}, []int{1, 0}, nil, nil, ""},
		"overlapping steps wait for nobody":   {headOf(2, 2), protocol.BeginRequest{Tasks: 4, Overlap: true}, []int{2, 2}, []int{0, 1}, []int{2, 2}, ""},
		"processors of a task as for the job": {headOf(1, 4, func(s *launchconfig.Spec) { s.CPUsPerTask = 2 }), protocol.BeginRequest{Tasks: 3}, nil, nil, nil, "More processors requested than permitted"},
		"more nodes than there are":           {headOf(2, 2), protocol.BeginRequest{Nodes: 3}, nil, nil, nil, "Requested node configuration is not available"},
		"fewer tasks than nodes":              {headOf(3, 2), protocol.BeginRequest{Nodes: 3, Tasks: 2}, nil, nil, nil, "2 tasks are too few for 3 nodes"},
		"more tasks than fit, a node":         {headOf(2, 8), protocol.BeginRequest{Nodes: 2, Tasks: 5, PerNode: 2}, nil, nil, nil, "More tasks requested than --ntasks-per-node permits"},
		"an unknown host":                     {headOf(2, 2), protocol.BeginRequest{Not: []string{"x"}}, nil, nil, nil, "x is not a node of this job"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := c.Manager.planStep(&c.asked)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), "Unable to create step for job 42: "+c.err) && !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			used := c.used
			if used == nil {
				used = make([]int, len(c.Manager.hosts))
			}
			nodes := want.chooseNodes(used, c.Manager.spec.CPUs, c.Manager.free)
			if diff := cmp.Diff(c.nodes, nodes); diff != "" {
				t.Errorf("nodes %s", diff)
			}
			if diff := cmp.Diff(c.count, want.counts); diff != "" && nodes != nil {
				t.Errorf("tasks %s", diff)
			}
		})
	}
}
