package squeue

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Slurm orders its states PENDING, RUNNING, SUSPENDED, COMPLETED, CANCELLED, FAILED, TIMEOUT, NODE_FAIL, PREEMPTED,
// BOOT_FAIL, OUT_OF_MEMORY. In Slurm, requeued, configuring and completing are flags on one of these states; here
// they are ordered next to that state.
func TestStatesAreSortedAsSlurmNumbersThem(t *testing.T) {
	t.Parallel()
	var rows []*listrow.Row
	for _, code := range state.AllCodes() {
		r := &listrow.Row{State: state.State{Code: code}}
		if stateRank(r) < 0 {
			t.Errorf("%s has no place", code)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *listrow.Row) int { return stateRank(a) - stateRank(b) })
	var got []state.Code
	for i, r := range rows {
		got = append(got, r.State.Code)
		if i > 0 && stateRank(rows[i-1]) == stateRank(r) {
			t.Errorf("%s and %s have one place", rows[i-1].State.Code, r.State.Code)
		}
	}
	want := []state.Code{"PD", "RQ", "CF", "R", "CG", "S", "CD", "CA", "F", "TO", "NF", "PR", "BF", "OOM"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
