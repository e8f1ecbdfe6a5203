package explain

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

func TestASentenceNamesWhatIsWaitedFor(t *testing.T) {
	for want, v := range map[string]Verdict{
		"1 pod is waiting for the removal of its scheduling gate example.com/wait": {Code: reason.SchedulingGated, Gated: 1, Gates: []string{"example.com/wait"}},
		"1 pod is waiting for the removal of its scheduling gates a, b":            {Code: reason.SchedulingGated, Gated: 1, Gates: []string{"a", "b"}},
		"pods are waiting for the removal of their scheduling gate a":              {Code: reason.SchedulingGated, Gated: 7, Gates: []string{"a"}},
		"pods are waiting for the removal of their scheduling gates a, b, c and 2 more": {Code: reason.SchedulingGated, Gated: 7,
			Gates: []string{"a", "b", "c", "d", "e"}},
		"the gang's pods have scheduling gates":          {Code: reason.SchedulingGated},
		"job headf is ahead of this job in queue strict": {Code: reason.BehindOthers, Blocker: []string{"job headf"}, Queue: "strict"},
		"other jobs are ahead of this job in the queue":  {Code: reason.BehindOthers},
	} {
		if got := Sentence(&v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOtherGatesAreAnotherExplanation(t *testing.T) {
	resources := model.New().Resources
	explain := func(n int, gates ...string) string {
		return MeaningKey(ToAPIExplanation(&Verdict{Code: reason.SchedulingGated, Gated: n, Gates: gates}, nil, resources))
	}
	if explain(5, "a", "b") == explain(5, "b") {
		t.Error("a gate was removed, and the old one is still named")
	}
	if explain(5, "a") != explain(4, "a") {
		t.Error("the explanation is written again for every pod that loses its gate")
	}
}
