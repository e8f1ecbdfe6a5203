package scheduler

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

func TestWakeUpsHaveDistinctNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, u := range wakeUps {
		if u.name == "" || u.wakes == nil || seen[u.name] {
			t.Errorf("%q: a wake-up needs a name of its own and a condition", u.name)
		}
		seen[u.name] = true
	}
}

func TestAParkedGangIsTriedAgainForAReason(t *testing.T) {
	t.Parallel()
	waiting := func(code reason.Code) *framework.Job {
		return &framework.Job{Gang: &model.Gang{}, Phase: schedulingv1beta1.PodGroupInqueue, CycleResult: framework.CycleResult{Verdict: explain.Verdict{Code: code}}, Parking: framework.Parking{Parked: true}}
	}
	busy, tooLarge := waiting(reason.GangDoesNotFit), waiting(reason.TooLarge)
	overQuota, promised := waiting(reason.OverQuota), waiting(reason.GangDoesNotFit)
	overAccount := waiting(reason.UserJobLimit)
	promised.Reserved = []*model.Task{{}}
	for name, c := range map[string]struct {
		job     *framework.Job
		changes changes
		touched bool
		relaxed bool
		want    string
	}{
		"nothing happened":                                {job: busy},
		"nodes changed, and it is too large":              {job: tooLarge, changes: changes{resized: true}, want: "node capacities changed"},
		"nodes changed, and it waits for room":            {job: busy, changes: changes{resized: true}},
		"a quota rose":                                    {job: overQuota, changes: changes{quotas: true}, want: "the cluster or its quota has more free resources"},
		"a quota rose, and nodes are full":                {job: busy, changes: changes{quotas: true}},
		"pods of its namespace ended":                     {job: overQuota, touched: true, want: "the cluster or its quota has more free resources"},
		"a deleted pod is gone":                           {job: promised, changes: changes{lingering: true}, want: "deleted pods changed"},
		"a deleted pod of others is gone":                 {job: busy, changes: changes{lingering: true}},
		"it is overdue":                                   {job: busy, changes: changes{overdue: busy}, want: "another gang is overdue"},
		"it is no longer overdue":                         {job: busy, changes: changes{relieved: busy}, want: "another gang is overdue"},
		"others are overdue":                              {job: busy, changes: changes{overdue: tooLarge}},
		"its account may use more":                        {job: overAccount, relaxed: true, want: "a limit of the gang's account may permit more"},
		"nodes changed below its limit":                   {job: overAccount, changes: changes{resized: true}},
		"its account may use more, and it waits for room": {job: busy, relaxed: true, want: "a limit of the gang's account may permit more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &waker{gangs: &gangCache{}, cycle: cycle.New(&session.Session{View: &overlay.Overlay{Touched: c.touched}}), changes: c.changes}
			w.cycle.Rules.Relaxed = append(w.cycle.Rules.Relaxed, func(*framework.Job) bool { return c.relaxed })
			w.findPossible()
			if got := w.wakeUpReason(c.job); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
