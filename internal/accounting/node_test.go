package accounting

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var midnight = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// at returns a change of node a of cluster east some hours after midnight.
func at(hours int, state NodeState, cpus int64) NodeChange {
	return NodeChange{Cluster: "east", Node: "a", Time: midnight.Add(time.Duration(hours) * time.Hour), State: state, Capacity: Resources{CPU: cpus}}
}

func TestCapacityIsSummedUpByState(t *testing.T) {
	t.Parallel()
	gone := at(20, NodeGone, 0)
	gone.Capacity = nil
	changes := []NodeChange{at(-40, NodeUp, 2), at(2, NodeDown, 2), at(3, NodeUp, 4), at(10, NodeDrained, 4), at(12, NodeUp, 4), gone}
	changes = append(changes, NodeChange{Cluster: "west", Node: "a", Time: midnight.Add(23 * time.Hour), State: NodeUp, Capacity: Resources{CPU: 1, Memory: 10}})
	query := CapacityQuery{From: midnight, To: midnight.Add(24 * time.Hour)}
	want := []Capacity{
		{"east", CPU, NodeDown, 2 * 3600},
		{"east", CPU, NodeDrained, 8 * 3600},
		{"east", CPU, NodeUp, (4 + 28 + 32) * 3600},
		{"west", CPU, NodeUp, 3600},
		{"west", Memory, NodeUp, 10 * 3600},
	}
	if diff := cmp.Diff(want, SumCapacity(changes, query)); diff != "" {
		t.Errorf("capacity (-want +got):\n%s", diff)
	}
	query.Resources = []string{Memory}
	if diff := cmp.Diff(want[4:], SumCapacity(changes, query)); diff != "" {
		t.Errorf("capacity of memory (-want +got):\n%s", diff)
	}
}

func TestTheCapacityOfTwoPeriodsIsThatOfBothTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var changes []NodeChange
		for _, hours := range rapid.SliceOfDistinct(rapid.IntRange(-50, 50), func(i int) int { return i }).Draw(t, "times") {
			state := rapid.SampledFrom([]NodeState{NodeUp, NodeDown, NodeDrained, NodeGone}).Draw(t, "state")
			changes = append(changes, at(hours, state, rapid.Int64Range(1, 9).Draw(t, "cpus")))
		}
		slices.SortFunc(changes, CompareNodeChanges)
		from, middle, to := -rapid.IntRange(0, 60).Draw(t, "from"), rapid.IntRange(0, 20).Draw(t, "middle"), rapid.IntRange(20, 60).Draw(t, "to")
		sum := func(from, to int) map[NodeState]int64 {
			seconds := map[NodeState]int64{}
			for _, c := range SumCapacity(changes, CapacityQuery{From: at(from, "", 0).Time, To: at(to, "", 0).Time}) {
				seconds[c.State] += c.Seconds
			}
			return seconds
		}
		both := sum(from, middle)
		for state, seconds := range sum(middle, to) {
			both[state] += seconds
		}
		if diff := cmp.Diff(sum(from, to), both); diff != "" {
			t.Fatalf("capacity (-whole +parts):\n%s", diff)
		}
	})
}
