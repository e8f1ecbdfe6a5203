package explain

import (
	"slices"
	"testing"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

func TestEveryResourceThatNoNodeHasEnoughOfIsNamed(t *testing.T) {
	t.Parallel()
	v := &Verdict{Code: reason.TooLarge,
		Limit: &Limit{Resource: "cpu", Asked: 5000, Limit: 2000, Node: true},
		More:  []Limit{{Resource: "memory", Asked: 81 << 30, Limit: 47 << 30, Node: true}, {Resource: "nvidia.com/gpu", Asked: 1, Node: true}},
	}
	e := ToAPIExplanation(v, nil, model.New().Resources)
	const sentence = "no node is large enough even when empty: cpu requested 5, the largest node has 2; memory requested 81Gi, the largest node has 47Gi; " +
		"nvidia.com/gpu requested 1, the largest node has none"
	if e.Message != sentence {
		t.Errorf("got  %s\nwant %s", e.Message, sentence)
	}
	if want := "request at most cpu 2, memory 47Gi and no nvidia.com/gpu per pod, or add a larger node"; e.Hint != want {
		t.Errorf("got  %s\nwant %s", e.Hint, want)
	}
	if len(e.Short) != 3 || e.Short[1].Resource != "memory" || e.Short[1].Available != "47Gi" {
		t.Errorf("short: %+v", e.Short)
	}
}

func TestRunningGangReportsThatItsExtraPodsWait(t *testing.T) {
	t.Parallel()
	v := &Verdict{Code: reason.GangDoesNotFit, Extra: true, Members: Members{Min: 2, Exist: 6, Total: 6, Held: 4, Fit: 4, Pending: 2}}
	v.Tally.Add(reason.InsufficientResource, "cpu", 1000)
	v.Tally.Add(reason.InsufficientResource, "cpu", 1000)
	e := ToAPIExplanation(v, nil, model.New().Resources)
	const sentence = "4 of 6 pods have a node (2 are enough); the other 2 wait: 0/2 nodes can run one more pod: 2 InsufficientResource cpu (short by 1)"
	if e.Reason != "ExtraPodsWait" || e.Message != sentence || e.Never {
		t.Errorf("got %s: %s, never %v", e.Reason, e.Message, e.Never)
	}
	if want := "wait until resources are free, request less, or add nodes"; e.Hint != want {
		t.Errorf("got  %s\nwant %s", e.Hint, want)
	}
}

// Nodes can lack the same resource because they are too small, or because others use it.
func TestAShortResourceOfNodesIsListedOnce(t *testing.T) {
	t.Parallel()
	v := &Verdict{Code: reason.GangDoesNotFit, Members: Members{Min: 2, Exist: 2, Total: 2, Pending: 2}}
	v.Tally.Add(reason.TooLarge, "nvidia.com/gpu", 4)
	v.Tally.Add(reason.TooLarge, "nvidia.com/gpu", 4)
	v.Tally.Add(reason.InsufficientResource, "nvidia.com/gpu", 2)
	v.Tally.Add(reason.InsufficientResource, "cpu", 1000)
	v.Tally.Sort()
	e := ToAPIExplanation(v, nil, model.New().Resources)
	var got []string
	for _, s := range e.Short {
		got = append(got, string(s.Resource)+" "+s.ShortBy)
	}
	if want := []string{"nvidia.com/gpu 2", "cpu 1"}; !slices.Equal(got, want) {
		t.Errorf("short: %v, want %v", got, want)
	}
	if len(e.Nodes) != 3 {
		t.Errorf("the nodes are no longer counted by reason: %+v", e.Nodes)
	}
}
