package noderow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/snapshot"
)

const gpu corev1.ResourceName = "nvidia.com/gpu"

func node(name string, state nodecapacity.State, used int64) *snapshot.Node {
	amounts := func(n int64) nodecapacity.Amounts {
		return nodecapacity.Amounts{MilliCPU: 1000 * n, Devices: map[corev1.ResourceName]int64{gpu: n}}
	}
	return &snapshot.Node{Name: name, State: state, Has: amounts(8), Used: amounts(used), Idle: amounts(8 - used), Rack: name[:1]}
}

func TestIdleIsWhatCouldBeHad(t *testing.T) {
	t.Parallel()
	nodes := []*snapshot.Node{
		node("a1", nodecapacity.StateIdle, 0), node("a2", nodecapacity.StateMixed, 3), node("b1", nodecapacity.StateFull, 8),
		node("b2", nodecapacity.StateFull, 10), // requests exceed the capacity
		node("c1", nodecapacity.StateDrained, 0), node("c2", nodecapacity.StateDraining, 2), node("c3", nodecapacity.StateDown, 0),
	}
	if has, idle := TotalAmount(nodes, gpu); has != 56 || idle != 13 {
		t.Errorf("%d of %d GPUs are idle, want 8 and 5 of 56: drained, draining and lost nodes take no pods", idle, has)
	}
	if has, idle := TotalAmount(nodes, corev1.ResourceCPU); has != 56000 || idle != 13000 {
		t.Errorf("%d of %d milli-CPU are idle, want 13000 of 56000", idle, has)
	}
}

// TestNodesWithoutTheResourceAreNotIdle verifies that a node without GPUs has a dash in the heat map of GPUs and is not
// among the free nodes, unless another resource is shown.
func TestNodesWithoutTheResourceAreNotIdle(t *testing.T) {
	t.Parallel()
	cpuOnly := node("c1", nodecapacity.StateIdle, 0)
	cpuOnly.Has.Devices, cpuOnly.Idle.Devices = nil, nil
	idle := node("g1", nodecapacity.StateIdle, 0)
	if cell := HeatCellOf(cpuOnly, gpu); cell.Sign != '-' {
		t.Errorf("a node without GPUs: %+v", cell)
	}
	if cell := HeatCellOf(idle, gpu); cell.Sign != 0 || cell.Level != 0 {
		t.Errorf("a node with idle GPUs: %+v", cell)
	}
	for resource, want := range map[corev1.ResourceName]FreeNodes{gpu: {1, "g1"}, corev1.ResourceCPU: {2, "c1,g1"}} {
		if got := FindFreeNodes([]*snapshot.Node{idle, cpuOnly}, resource); got != want {
			t.Errorf("free nodes for %s are %+v, want %+v", resource, got, want)
		}
	}
}

func TestPodsAreAResourceOfNodes(t *testing.T) {
	t.Parallel()
	busy, drained := node("a1", nodecapacity.StateMixed, 3), node("a2", nodecapacity.StateDrained, 0)
	busy.PodLimit, busy.Pods, drained.PodLimit = 110, make([]*snapshot.Pod, 4), 110
	if has, idle := TotalAmount([]*snapshot.Node{busy, drained}, corev1.ResourcePods); has != 220 || idle != 106 {
		t.Errorf("%d of %d pods are idle, want 106 of 220", idle, has)
	}
}

func TestNodesStandInRacksInTheOrderOfPeople(t *testing.T) {
	t.Parallel()
	nodes := []*snapshot.Node{node("b1", nodecapacity.StateIdle, 0), node("a1", nodecapacity.StateMixed, 4), node("a2", nodecapacity.StateDown, 0), node("x9", nodecapacity.StateFull, 8)}
	nodes[3].Rack = ""
	groups := HeatGroups(nodes, ByRack, gpu)
	if len(groups) != 3 || groups[0].Name != "a" || groups[1].Name != "b" || groups[2].Name != "others" {
		t.Fatalf("groups are %+v", groups)
	}
	if cells := groups[0].Cells; cells[0].Level != 3 || cells[1].Sign != 'X' {
		t.Errorf("rack a is %+v, want half full and down", cells)
	}
	if cells := groups[2].Cells; cells[0].Level != 4 {
		t.Errorf("the node without a rack is %+v, want full", cells)
	}
	if got := OfferedGroupings(nodes); len(got) != 2 || got[0] != ByRack || got[1] != Flat {
		t.Errorf("offered are %v", got)
	}
}

func TestNamesAreShortWithoutTheirDomain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"n1.rack2.example.com": "n1", "gpu-7.example.com": "gpu-7", "192.168.23.24": "192.168.23.24", "plain": "plain"} {
		if got := ShortNodeName(name); got != want {
			t.Errorf("Short(%s) = %s, want %s", name, got, want)
		}
	}
}

func TestAGroupHasOneCellWithTheLevelOfItsUsableNodes(t *testing.T) {
	t.Parallel()
	cpuOnly := node("e1", nodecapacity.StateIdle, 0)
	cpuOnly.Has.Devices = nil
	noRack := node("x1", nodecapacity.StateIdle, 0)
	noRack.Rack = ""
	group := GroupCells([]*snapshot.Node{
		node("a1", nodecapacity.StateFull, 8), node("a2", nodecapacity.StateFull, 8),
		node("b1", nodecapacity.StateIdle, 0), node("b2", nodecapacity.StateDrained, 0),
		node("c1", nodecapacity.StateMixed, 3), node("c2", nodecapacity.StateIdle, 0),
		node("d1", nodecapacity.StateDown, 0), cpuOnly, noRack,
	}, ByRack, gpu)
	var got []string
	for _, cell := range group.Cells {
		got = append(got, fmt.Sprintf("%s %d %c", cell.ID, cell.Level, max(cell.Sign, '+')))
	}
	want := []string{"rack=a 4 +", "rack=b 0 +", "rack=c 1 +", "rack=d 0 X", "rack=e 0 -"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNodesAreSortedByTheirRacksAndThenByName(t *testing.T) {
	t.Parallel()
	var nodes []*snapshot.Node
	for _, place := range []string{"a/", "b/rack10", "c10/rack2", "c9/rack2", "d/"} {
		name, rack, _ := strings.Cut(place, "/")
		nodes = append(nodes, &snapshot.Node{Name: name, Rack: rack})
	}
	var got []string
	for _, n := range SortByGroup(nodes) {
		got = append(got, n.Name)
	}
	if want := []string{"c9", "c10", "b", "a", "d"}; !slices.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
	}
	if nodes[0].Name != "a" {
		t.Error("the argument was reordered")
	}
}
