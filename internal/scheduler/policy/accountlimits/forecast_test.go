package accountlimits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/make"
)

// committedIn returns the committed CPU-minutes of the budget of account a in a forecast.
func committedIn(f *forecast) int64 {
	index, _ := f.s.Cluster.Resources.Find("cpu")
	return f.tally.budgets["a"].committed(index) / 1000 / 60
}

// TestABudgetIsFreeAgainInTheForecastAfterARenewal runs two pods, of which one still runs when a period begins. Its
// remaining time is reserved in the new period. The usage of the other one no longer counts.
func TestABudgetIsFreeAgainInTheForecastAfterARenewal(t *testing.T) {
	t.Parallel()
	renewal := make.Epoch.AddDate(0, 1, 0)
	now := renewal.Add(-2 * time.Hour)
	c := clusterWithBudget(accountv1alpha1.BudgetPeriodMonth, []model.BudgetUsageEntry{{Account: "a", Usage: &model.BudgetUsage{Since: make.Epoch}}})
	c.Apply(model.TaskFrom(running("g-0", "1", now), true), model.TaskFrom(running("g-1", "2", renewal.Add(-20*time.Minute)), true))
	var counts tally
	counts.update(c, now)
	f := newForecast(&session.Session{Cluster: c, Now: now}, &counts, nil)
	if got := committedIn(f); got != 60+120 {
		t.Errorf("%d CPU-minutes are committed at first, want 180", got)
	}
	f.CountEnded(c.Task("pod-g-0"), now.Add(30*time.Minute), true)
	if got := committedIn(f); got != 30+120 {
		t.Errorf("%d CPU-minutes are committed after a pod has ended early, want 150", got)
	}
	if at := f.NextRenewal(); !at.Equal(renewal) {
		t.Fatalf("the budget is renewed at %v, want %v", at, renewal)
	}
	f.Renew(renewal.Add(-time.Second))
	if got := committedIn(f); got != 30+120 {
		t.Errorf("%d CPU-minutes are committed before the renewal, want 150", got)
	}
	f.Renew(renewal)
	if got := committedIn(f); got != 2*40 {
		t.Errorf("%d CPU-minutes are committed after the renewal, want 80", got)
	}
	f.CountEnded(c.Task("pod-g-1"), renewal.Add(40*time.Minute), true)
	if got := committedIn(f); got != 2*40 {
		t.Errorf("%d CPU-minutes are committed when the other pod has ended, want 80", got)
	}
	var again tally
	again.update(c, now)
	if diff := cmp.Diff(countsOf(&again), countsOf(&counts)); diff != "" {
		t.Errorf("the forecast has changed the counts (-want +got):\n%s", diff)
	}
}
