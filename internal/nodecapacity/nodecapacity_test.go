package nodecapacity_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/test/make"
)

func TestIdleIsAllocatableMinusRequested(t *testing.T) {
	t.Parallel()
	node := make.Node("a").CPU("4").Memory("8Gi").GPU(2).Obj()
	pods := []*corev1.Pod{
		make.Pod("runs").On("a").CPU("1500m").GPU(1).Obj(),
		make.Pod("ended").On("a").CPU("2").Phase(corev1.PodSucceeded).Obj(),
		make.Pod("elsewhere").On("b").CPU("1").Obj(),
		make.Pod("odd").On("a").Resource("example.com/card", "1").Obj(),
	}
	got := nodecapacity.RoomOfAllNodes([]*corev1.Node{node}, pods)[0]
	if got.Idle.MilliCPU != 2500 || got.Idle.Devices["nvidia.com/gpu"] != 1 || got.Idle.MemoryBytes != 8<<30 {
		t.Errorf("idle: %+v", got.Idle)
	}
	if _, counted := got.Idle.Devices["example.com/card"]; counted {
		t.Errorf("a device that the node does not have is counted: %+v", got.Idle)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	has := nodecapacity.Amounts{MilliCPU: 4000, Devices: map[corev1.ResourceName]int64{"nvidia.com/gpu": 8}}
	cases := map[string]struct {
		ready, cordoned, busy bool
		idle                  nodecapacity.Amounts
		want                  nodecapacity.State
	}{
		"a node without jobs is idle, whatever else runs on it": {ready: true, want: nodecapacity.StateIdle},
		"a node with jobs and room is mixed":                    {ready: true, busy: true, idle: has, want: nodecapacity.StateMixed},
		"a node whose GPUs are all asked for is full":           {ready: true, busy: true, idle: nodecapacity.Amounts{MilliCPU: 9}, want: nodecapacity.StateFull},
		"a cordoned node with jobs is draining":                 {ready: true, cordoned: true, busy: true, idle: has, want: nodecapacity.StateDraining},
		"a cordoned node without jobs is drained":               {ready: true, cordoned: true, want: nodecapacity.StateDrained},
		"a silent node is down, cordoned or not":                {cordoned: true, busy: true, want: nodecapacity.StateDown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := nodecapacity.StateOfNode(tc.ready, tc.cordoned, tc.busy, has, tc.idle); got != tc.want {
				t.Errorf("state %q, want %q", got, tc.want)
			}
		})
	}
}
