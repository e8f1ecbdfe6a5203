package sdiag

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

func TestCountCountsElements(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return time.Date(2026, 3, 1, 12, minutes, 0, 0, time.UTC) }
	row := func(code state.Code, submit int, started bool, elements batchv1alpha1.Indices) *listrow.Row {
		r := &listrow.Row{State: state.State{Code: code}, Times: state.Times{Submit: at(submit)}, Elements: elements}
		if started {
			r.Times.Start = at(30)
		}
		return r
	}
	got := CountJobs([]*listrow.Row{
		row(state.Pending, 9, false, batchv1alpha1.Indices{{First: 3, Last: 7}}), row(state.Running, 5, true, nil), row(state.Completing, 6, true, nil),
		row(state.Completed, 7, true, nil), row(state.Cancelled, 8, false, nil), row(state.Timeout, 8, true, nil), row(state.Failed, 8, true, nil),
	})
	want := Jobs{Submitted: 11, Started: 5, Completed: 1, Canceled: 1, Failed: 2, Pending: 5, Running: 2, Since: at(5)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCyclesComeFromAllReplicas(t *testing.T) {
	t.Parallel()
	var c Cycles
	if c.AddMetrics("# HELP x y\nprocess_open_fds 9\n") {
		t.Error("a replica that does not schedule has cycles")
	}
	found := c.AddMetrics("volcano_e2e_scheduling_latency_milliseconds_bucket{le=\"0.05\"} 3\nvolcano_e2e_scheduling_latency_milliseconds_sum 12.5\nvolcano_e2e_scheduling_latency_milliseconds_count 10\nvolcano_unschedule_job_count 4\n")
	if want := (Cycles{Total: 10, MeanMicros: 1250, SumMicros: 12500, Waiting: 4}); !found || c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

// Unknown values are marked as unknown.
func TestThePageInventsNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	page := PageText(Jobs{Submitted: 2}, nil, now)
	for _, line := range []string{"sdiag output at Sun Mar 01 12:00:00 2026 (1772366400)\n", "Jobs submitted: 2\n", "\tTotal cycles: N/A\n", "\tMean cycle:   N/A\n"} {
		if !strings.Contains(page, line) {
			t.Errorf("no %q in\n%s", line, page)
		}
	}
	if page = PageText(Jobs{}, &Cycles{Total: 7, MeanMicros: 9}, now); !strings.Contains(page, "\tTotal cycles: 7\n\tMean cycle:   9\n") {
		t.Error(page)
	}
	for cycles, has := range map[*Cycles]bool{nil: false, {Total: 1}: true} {
		text, err := json.Marshal(NewDocument(Jobs{Pending: 3}, cycles, now))
		if err != nil || strings.Contains(string(text), "schedule_cycle_total") != has || !strings.Contains(string(text), `"jobs_pending":3`) {
			t.Errorf("%s %v", text, err)
		}
	}
}
