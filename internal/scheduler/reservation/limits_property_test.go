package reservation_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestEstimatesBehindLimitsOfAccountsAreExact runs gangs of two users on a node that has room for all of them, so that only
// the limits of their account and of its QOS hold them back. Each gang starts at its first estimate.
func TestEstimatesBehindLimitsOfAccountsAreExact(t *testing.T) {
	estimated := 0
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		r := newRun(t, []int{999})
		account := make.Account("a").Users("ann", "bob")
		if rapid.Bool().Draw(t, "jobs of each user") {
			account.UserMaxRunningJobs("", int32(rapid.IntRange(1, 2).Draw(t, "user's jobs")))
		}
		if rapid.Bool().Draw(t, "CPUs of the account") {
			account.MaxResource("cpu", fmt.Sprint(rapid.IntRange(16, 30).Draw(t, "account's CPUs")))
		}
		qos := make.QOS("q").MaxRunningJobs(make.AllJobs, int32(rapid.IntRange(1, 4).Draw(t, "jobs of the QOS")))
		r.model.Apply(model.AccountFrom(account.Obj()), model.QOSFrom(qos.Obj()))
		var gangs []timed
		for i := range rapid.IntRange(2, 8).Draw(t, "gangs") {
			g := drawTimed(t, fmt.Sprintf("g%d", i), []int{999})
			gangs = append(gangs, g)
			r.submit(i, g)
			group := make.Gang(g.name).Min(g.tasks).Queue("default").Age(time.Duration(i)*time.Second).MinResource("cpu", fmt.Sprint(g.tasks*g.cpu)).
				Label(keys.Account, "a").Annotation(keys.User, rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user"))
			if rapid.Bool().Draw(t, "with QOS") {
				group.Label(keys.QOS, "q")
			}
			group.Obj().UID = types.UID(g.name)
			r.model.Apply(model.GangFrom(group.Obj()))
		}
		r.step()
		estimates := map[string]int{}
		for _, g := range gangs {
			e := r.model.Gangs["default/"+g.name].Status.Explanation
			if _, started := r.started[g.name]; started || e == nil {
				continue
			}
			if e.EstimatedStart == nil {
				t.Fatalf("gangs %+v: nothing is known of %s: %s", gangs, g.name, e.Estimate)
			}
			estimates[g.name] = int(e.EstimatedStart.Sub(make.Epoch) / time.Minute)
			estimated++
		}
		for range 400 {
			if !r.waiting(gangs) {
				break
			}
			r.step()
		}
		for name, minute := range estimates {
			if r.started[name] != minute {
				t.Fatalf("gangs %+v: %s was to start at minute %d and started at %d", gangs, name, minute, r.started[name])
			}
		}
	})
	if whole && estimated == 0 {
		t.Error("no limit has held back a gang")
	}
	t.Logf("%d starts were estimated", estimated)
}
