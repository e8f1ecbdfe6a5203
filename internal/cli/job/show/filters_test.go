package show_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
)

// A name combined with filters either exists but does not match the filters, or does not exist.
func TestNamesBesideFiltersGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "filters", []golden.Run{
		{About: "in another phase", Args: "job list train --phase Pending"},
		{About: "some of two", Args: "job list train eval --phase Pending"},
		{About: "in another queue, and one that is nowhere", Args: "job list train nosuch -q default"},
		{About: "without the label", Args: "job list train -l team=cv"},
		{About: "the pod of another job, in a phase that no pod has", Args: "pod list train-worker-0 --job eval --phase Bogus"},
		{About: "the pod of another job", Args: "pod list train-worker-0 --job eval"},
		{About: "a queue without the label", Args: "queue list research -l x=y"},
	})
}
