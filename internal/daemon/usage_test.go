package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func keeper(c client.Client, fence func() error) *usageKeeper {
	return &usageKeeper{next: nowhere{}, client: c, namespace: "ns", fence: fence, log: logr.Discard(), used: map[model.Account]model.Usage{}, budgets: map[string]*model.BudgetUsage{}}
}

// stored returns the usage that a keeper reads.
func stored(t *testing.T, k *usageKeeper) ([]model.UsageEntry, []model.BudgetUsageEntry) {
	t.Helper()
	usage, budgets, err := k.loadStoredUsage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return usage.Entries, budgets.Entries
}

func TestTheUsageOfBudgetsIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	leads := func() error { return nil }
	first := keeper(c, leads)
	usage := &model.BudgetUsage{
		Since: time.Unix(1000, 0).UTC(), Ended: map[string]int64{"cpu": 1 << 60}, At: time.Unix(2000, 0).UTC(),
		Rate: map[string]int64{"cpu": 2000}, Offset: map[string]int64{"cpu": 3}, Reserved: map[string]int64{"cpu": 1 << 62},
	}
	first.Put(&decision.Decisions{BudgetUsage: []model.BudgetUsageEntry{{Account: "physics", Usage: usage}, {Account: "chem", Usage: usage}}})
	if !first.hasNewBudgetUsage() {
		t.Error("the usage is not to be written soon")
	}
	first.saveIfChanged(ctx)
	first.Put(&decision.Decisions{BudgetUsage: []model.BudgetUsageEntry{{Account: "chem"}}}) // its budget was removed
	first.saveIfChanged(ctx)
	_, got := stored(t, keeper(c, leads))
	if diff := cmp.Diff([]model.BudgetUsageEntry{{Account: "physics", Usage: usage}}, got); diff != "" {
		t.Errorf("after a restart (-written +read)\n%s", diff)
	}
}

// TestNoSchedulerStartsWithoutTheUsageOfBudgets checks that an error of the API server is not mistaken for a budget that
// is unused.
func TestNoSchedulerStartsWithoutTheUsageOfBudgets(t *testing.T) {
	t.Parallel()
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("unavailable")
		},
	}).Build()
	if _, _, err := keeper(c, nil).loadStoredUsage(t.Context()); err == nil {
		t.Error("the error is ignored")
	}
}

func TestUseIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	leads := func() error { return nil }
	first := keeper(c, leads)
	if got, _ := stored(t, first); len(got) != 0 {
		t.Fatalf("nothing was written, read %v", got)
	}
	ann, bob := model.Account{Queue: "q", User: "ann"}, model.Account{Queue: "q", Namespace: "bob"}
	used := model.Usage{Value: 12.5, At: time.Unix(1000, 0).UTC(), Rate: 0.25}
	first.Put(&decision.Decisions{Usage: []model.UsageEntry{{Account: ann, Usage: used}, {Account: bob, Usage: used}}})
	first.saveIfChanged(ctx)
	first.Put(&decision.Decisions{Usage: []model.UsageEntry{{Account: bob}}}) // no longer any usage
	first.saveIfChanged(ctx)
	entries, _ := stored(t, keeper(c, leads))
	if diff := cmp.Diff([]model.UsageEntry{{Account: ann, Usage: used}}, entries); diff != "" {
		t.Errorf("after a restart (-written +read)\n%s", diff)
	}
}

func TestUseIsNotWrittenByOneWhoNoLongerLeads(t *testing.T) {
	t.Parallel()
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	k := keeper(c, func() error { return errors.New("another leads") })
	k.Put(&decision.Decisions{Usage: []model.UsageEntry{{Account: model.Account{Queue: "q"}, Usage: model.Usage{Rate: 1}}}})
	k.saveIfChanged(ctx)
	if got, _ := stored(t, keeper(c, nil)); len(got) != 0 {
		t.Errorf("written: %v", got)
	}
}
