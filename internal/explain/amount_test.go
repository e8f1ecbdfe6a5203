package explain

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

func TestOddAmountsOfMemoryAreReadable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resource string
		value    float64
		up, down string
	}{
		{"memory", 24684096 << 10, "23.6Gi", "23.5Gi"},
		{"memory", 6265300 << 10, "6119Mi", "6118Mi"},
		{"requests.memory", 24684096 << 10, "23.6Gi", "23.5Gi"},
		{"ephemeral-storage", 24684096 << 10, "23.6Gi", "23.5Gi"},
		{"memory", 24105 << 20, "24105Mi", "24105Mi"},
		{"memory", 500 << 30, "500Gi", "500Gi"},
		{"memory", 300, "300", "300"},
		{"cpu", 1500, "1500m", "1500m"},
		{"nvidia.com/gpu", 3, "3", "3"},
	} {
		if got := formatRoundedUp(test.resource, test.value); got != test.up {
			t.Errorf("%s %.0f, rounded up: got %s, want %s", test.resource, test.value, got, test.up)
		}
		if got := formatRoundedDown(test.resource, test.value); got != test.down {
			t.Errorf("%s %.0f, rounded down: got %s, want %s", test.resource, test.value, got, test.down)
		}
	}
}

func TestTheRequestThatAHintAdvisesFits(t *testing.T) {
	t.Parallel()
	v := &Verdict{Code: reason.TooLarge, Limit: &Limit{Resource: "memory", Asked: 500 << 30, Limit: 24684096 << 10, Node: true}}
	e := ToAPIExplanation(v, nil, model.New().Resources)
	if want := "request at most memory 23.5Gi per pod, or add a larger node"; e.Hint != want {
		t.Errorf("got  %s\nwant %s", e.Hint, want)
	}
	if s := e.Short[0]; s.Asked != "500Gi" || s.Available != "23.5Gi" || s.ShortBy != "476.5Gi" {
		t.Errorf("%+v", s)
	}
}

func TestTheHintIsAboutNodesThatCanBecomeFree(t *testing.T) {
	t.Parallel()
	v := &Verdict{Code: reason.GangDoesNotFit, Members: Members{Min: 1, Exist: 1, Total: 1}}
	for range 100 {
		v.Tally.Add(reason.NodeSelectorMismatch, "pool=fast", 0)
	}
	correct := "correct the selector, or label a node"
	if got := ToAPIExplanation(v, nil, model.New().Resources).Hint; got != correct {
		t.Errorf("no node matches: %s", got)
	}
	v.Tally.Add(reason.InsufficientResource, "cpu", 1000)
	if got := ToAPIExplanation(v, nil, model.New().Resources).Hint; got == correct {
		t.Errorf("a node matches and is occupied: %s", got)
	}
}

func TestTheHintNamesACordonedNodeThatThePodsMayUse(t *testing.T) {
	t.Parallel()
	v := &Verdict{Code: reason.GangDoesNotFit, Members: Members{Min: 1, Exist: 1, Total: 1}}
	v.Tally.Add(reason.NodeSelectorMismatch, "pool=fast", 0)
	v.Tally.Add(reason.NodeSelectorMismatch, "pool=fast", 0)
	v.Tally.Add(reason.NodeUnschedulable, "", 0)
	if got, want := ToAPIExplanation(v, nil, model.New().Resources).Hint, "correct the selector, or label a node"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	v.Tally.AddCordoned("n7")
	v.Tally.AddCordoned("n3")
	if got, want := ToAPIExplanation(v, nil, model.New().Resources).Hint, "vcctl node uncordon n3"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGangThatIsNotAdmittedHasItsQueueInTheReason(t *testing.T) {
	t.Parallel()
	v := &Verdict{Code: reason.NotEnqueued, Queue: "nlp", Limit: &Limit{Queue: "root", Resource: "cpu", Asked: 2000, Held: 15000, Limit: 16000, Cluster: true}}
	if got, want := Sentence(v), "the gang is not yet admitted to queue nlp: cpu requested 2, 15 in use, limit 16"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
