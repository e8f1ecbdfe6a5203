package pastusage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/make"
)

// byUser charges the users of gangs, in the named account of the tree.
type byUser struct{ account string }

func (c byUser) Owner(g *model.Gang) model.Account {
	if g.User == "" {
		return model.Account{}
	}
	return model.Account{Account: c.account, User: g.User}
}

func (c byUser) Accounts(g *model.Gang) []model.Account {
	if g.User == "" {
		return nil
	}
	return []model.Account{c.Owner(g)}
}

func (byUser) Charges(*model.Gang) bool { return true }

func (c byUser) Owns(a model.Account) bool { return a.Account == c.account }

// update runs a cycle in which only the recorder takes part, and stores its decisions.
func update(r *Recorder, c *model.Cluster, now time.Time) []model.UsageEntry {
	var ledger queue.Ledger
	ledger.Open(c)
	s := session.Open(now, c, nil, nil, &ledger, nil)
	r.Update(s)
	c.AssumeUsage(s.Out.Usage)
	return s.Out.Usage
}

// run adds a gang that uses half of the cluster.
func run(c *model.Cluster, name, user string) {
	c.Apply(model.NodeFrom(make.Node("n").CPU("4").Obj()))
	c.Apply(model.GangFrom(make.Gang(name).Queue("q").Annotation(keys.User, user).Obj()))
	c.Apply(model.TaskFrom(make.Pod(name+"-0").Gang(name).CPU("2").On("n").Phase(corev1.PodRunning).Obj(), true))
}

func TestUsageGrowsWhileAGangRunsAndDecaysAfterwards(t *testing.T) {
	c, r, ann := model.New(), NewRecorder(byUser{"lab"}, time.Hour), model.Account{Account: "lab", User: "ann"}
	run(c, "g", "ann")
	update(r, c, make.Epoch)
	update(r, c, make.Epoch.Add(time.Second))
	if used := r.UsageOf(ann); used < 0.49 || used > 0.5 {
		t.Errorf("after a second with half of the cluster, the usage is %v", used)
	}
	c.Apply(model.TaskGone{Namespace: "default", Name: "g-0", UID: make.Pod("g-0").Obj().UID}, model.GangGone{Namespace: "default", Name: "g"})
	update(r, c, make.Epoch.Add(time.Hour))
	peak := r.UsageOf(ann)
	update(r, c, make.Epoch.Add(2*time.Hour))
	if half := r.UsageOf(ann); half < 0.499*peak || half > 0.501*peak {
		t.Errorf("an hour after the end, the usage is %v, before it was %v", half, peak)
	}
	if r.IsRunning(ann) {
		t.Error("the gang ended, but its user is running")
	}
	forgot := update(r, c, make.Epoch.Add(24*365*time.Hour))
	if diff := cmp.Diff([]model.UsageEntry{{Account: ann}}, forgot); diff != "" {
		t.Errorf("decisions after a year (-want +got):\n%s", diff)
	}
}

func TestARecorderChangesOnlyItsOwnAccounts(t *testing.T) {
	c, r := model.New(), NewRecorder(byUser{"lab"}, time.Hour)
	other := model.UsageEntry{Account: model.Account{Queue: "q", User: "ann"}, Usage: model.Usage{Value: 5, At: make.Epoch, Rate: 0.5}}
	old := model.UsageEntry{Account: model.Account{Queue: "q", User: "bob"}, Usage: model.Usage{Value: 1e-9, At: make.Epoch}}
	c.Apply(model.UsageSet{Entries: []model.UsageEntry{other, old}})
	run(c, "g", "ann")
	for hour := range 3 {
		for _, e := range update(r, c, make.Epoch.Add(time.Duration(hour)*time.Hour)) {
			if e.Account.Account != "lab" {
				t.Errorf("hour %d: the recorder changes %+v", hour, e)
			}
		}
	}
	if got := c.Usage[other.Account]; got != other.Usage {
		t.Errorf("the usage of another policy is %+v, was %+v", got, other.Usage)
	}
}

func TestAGangWithoutAccountIsNotCharged(t *testing.T) {
	c, r := model.New(), NewRecorder(byUser{"lab"}, time.Hour)
	run(c, "g", "")
	if out := update(r, c, make.Epoch); len(out) > 0 || len(r.Accounts()) > 0 {
		t.Errorf("decisions %+v, accounts %+v", out, r.Accounts())
	}
}

func TestANewRecorderContinuesWithTheStoredUsage(t *testing.T) {
	c, r, ann := model.New(), NewRecorder(byUser{"lab"}, time.Hour), model.Account{Account: "lab", User: "ann"}
	run(c, "g", "ann")
	update(r, c, make.Epoch)
	later := make.Epoch.Add(3 * time.Hour)
	update(r, c, later)
	fresh := NewRecorder(byUser{"lab"}, time.Hour)
	update(fresh, c, later)
	if before, after := r.UsageOf(ann), fresh.UsageOf(ann); before != after || before == 0 {
		t.Errorf("usage %v before and %v after a restart", before, after)
	}
}
