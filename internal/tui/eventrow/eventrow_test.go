package eventrow

import (
	"testing"

	"github.com/vc-batch/vc/internal/snapshot"
)

func TestEventsNameWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		event snapshot.Event
		want  string
	}{
		"a gang by its job":     {snapshot.Event{Kind: "PodGroup", Namespace: "nlp", Name: "eval-373b84af-9828-4ed4-875c-8544416c8496", Message: "1 of 2\npods fit"}, "gang nlp/eval|1 of 2 pods fit"},
		"a group without a job": {snapshot.Event{Kind: "PodGroup", Namespace: "nlp", Name: "mine", Message: "ready"}, "podgroup nlp/mine|ready"},
		"a repeated event":      {snapshot.Event{Kind: "Node", Name: "r10n05", Message: "not ready", Count: 3}, "node r10n05|not ready (x3)"},
	} {
		if got := ObjectText(&tc.event) + "|" + MessageText(&tc.event); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
