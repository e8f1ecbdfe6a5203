package licence_test

import (
	"strings"
	"testing"

	"example.com/custom-policy/licence"

	"github.com/vc-batch/vc/plugin"
	"github.com/vc-batch/vc/plugin/policytest"
)

const conf = `
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: licence, arguments: {licence.matlab: 3}}]
`

func TestNoMorePodsRunThanThereAreLicences(t *testing.T) {
	w := policytest.New(t, conf, map[string]plugin.Builder{"licence": licence.New})
	w.Node("a", "cpu=8", "memory=8Gi")
	w.Gang("first", 2, "cpu=1", "label:"+licence.Label+"=matlab")
	w.Gang("second", 2, "cpu=1", "label:"+licence.Label+"=matlab")
	w.Gang("other", 2, "cpu=1")
	w.Settle()
	for gang, want := range map[string]int{"first": 2, "second": 0, "other": 2} {
		if got := w.Running(gang); got != want {
			t.Errorf("%d pods of %s run, want %d: %s", got, gang, want, w.Why(gang))
		}
	}
	w.Finish("first")
	w.Settle()
	if got := w.Running("second"); got != 2 {
		t.Errorf("%d pods of second run when licences are free again: %s", got, w.Why("second"))
	}
}

// TestALicenceThatIsPromisedIsTaken covers promises of resources that are not free yet. They are renewed in every
// cycle, and the licence with them.
func TestALicenceThatIsPromisedIsTaken(t *testing.T) {
	w := policytest.New(t, strings.Replace(conf, "matlab: 3", "matlab: 1", 1), map[string]plugin.Builder{"licence": licence.New})
	w.Node("large", "cpu=2", "memory=8Gi")
	w.Node("small", "cpu=1", "memory=8Gi")
	w.Gang("old", 1, "cpu=2")
	w.Settle()
	w.Delete("old")
	w.Gang("first", 1, "cpu=2", "label:"+licence.Label+"=matlab")
	w.Settle()
	w.Gang("second", 1, "cpu=1", "label:"+licence.Label+"=matlab")
	w.Settle()
	if got := w.Running("second"); got != 0 {
		t.Errorf("%d pods of second run with the only licence, which is reserved for first", got)
	}
}
