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

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func keeper(c client.Client, fence func() error) *usageKeeper {
	return &usageKeeper{next: nowhere{}, client: c, namespace: "ns", fence: fence, log: logr.Discard(), used: map[model.Account]model.Usage{}}
}

func TestUseIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	leads := func() error { return nil }
	first := keeper(c, leads)
	if got := first.loadStoredUsage(ctx); len(got.Entries) != 0 {
		t.Fatalf("nothing was written, read %v", got)
	}
	ann, bob := model.Account{Queue: "q", User: "ann"}, model.Account{Queue: "q", Namespace: "bob"}
	used := model.Usage{Value: 12.5, At: time.Unix(1000, 0).UTC(), Rate: 0.25}
	first.Put(&decision.Decisions{Usage: []model.UsageEntry{{Account: ann, Usage: used}, {Account: bob, Usage: used}}})
	first.saveIfChanged(ctx)
	first.Put(&decision.Decisions{Usage: []model.UsageEntry{{Account: bob}}}) // no longer any usage
	first.saveIfChanged(ctx)
	if diff := cmp.Diff([]model.UsageEntry{{Account: ann, Usage: used}}, keeper(c, leads).loadStoredUsage(ctx).Entries); diff != "" {
		t.Errorf("after a restart (-written +read)\n%s", diff)
	}
}

func TestUseIsNotWrittenByOneWhoNoLongerLeads(t *testing.T) {
	t.Parallel()
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	k := keeper(c, func() error { return errors.New("another leads") })
	k.Put(&decision.Decisions{Usage: []model.UsageEntry{{Account: model.Account{Queue: "q"}, Usage: model.Usage{Rate: 1}}}})
	k.saveIfChanged(ctx)
	if got := keeper(c, nil).loadStoredUsage(ctx); len(got.Entries) != 0 {
		t.Errorf("written: %v", got)
	}
}
