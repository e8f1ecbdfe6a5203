package fairshare

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// opened is a cycle in which only the policy has run.
func opened(p *Policy, now time.Time, c *model.Cluster) *session.Session {
	var ledger queue.Ledger
	ledger.Open(c)
	s := session.Open(now, c, nil, nil, &ledger, nil)
	p.Open(s)
	return s
}

func policy() *Policy {
	return New(config.Plugin{Arguments: config.Arguments{halfLife: "10s", targetQueues: "q0, q1"}}, func(string) {})
}

// sums returns the policy's sums of the accounts of three queues.
func sums(p *Policy, s *session.Session) map[string]total {
	u := &accountUsage{s: s, p: p}
	out := map[string]total{}
	for i := range 3 {
		name := fmt.Sprintf("q%d", i)
		out[name] = u.queueTotal(name)
	}
	return out
}

// TestAPolicyThatIsKeptIsLikeANewOne creates and deletes gangs, places and evicts their pods, and advances time. A
// policy that follows the changes must record and sum the same use as one that processes everything. Now and then
// the recorded use is lost.
func TestAPolicyThatIsKeptIsLikeANewOne(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		c, now, kept := model.New(), make.Epoch, policy()
		made := 0
		node := func() {
			c.Apply(model.NodeFrom(make.Node("n").CPU(fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "cpu"))).Obj()))
		}
		node()
		pod := func(i int, node string, phase corev1.PodPhase) {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("p%d", i)).Gang(fmt.Sprintf("g%d", i)).CPU("1").On(node).Phase(phase).Obj(), true))
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			which := rapid.IntRange(0, max(made-1, 0)).Draw(t, "which")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1:
				b := make.Gang(fmt.Sprintf("g%d", made)).Queue(fmt.Sprintf("q%d", rapid.IntRange(0, 2).Draw(t, "queue")))
				if user := rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user"); user != "" {
					b.Annotation(keys.User, user)
				}
				c.Apply(model.GangFrom(b.Obj()))
				pod(made, "n", corev1.PodRunning)
				made++
			case 2:
				pod(which, "n", corev1.PodSucceeded)
			case 3:
				c.Apply(model.GangGone{Namespace: "default", Name: fmt.Sprintf("g%d", which)})
			case 4:
				node()
			case 5:
				c.Apply(model.UsageSet{Entries: []model.UsageEntry{{Account: model.Account{Queue: "q1", User: "eve"}, Usage: model.Usage{Value: 3, At: now, Rate: rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "rate")}}}})
			default:
				now = now.Add(time.Duration(rapid.IntRange(1, 200).Draw(t, "seconds")) * time.Second)
			}
			if rapid.Bool().Draw(t, "unseen") {
				continue
			}
			fresh := policy()
			a, b := opened(kept, now, c), opened(fresh, now, c)
			if diff := cmp.Diff(b.Out.Usage, a.Out.Usage); diff != "" {
				t.Fatalf("what is noted (-new +kept):\n%s", diff)
			}
			if diff := cmp.Diff(sums(fresh, b), sums(kept, a), cmp.AllowUnexported(total{})); diff != "" {
				t.Fatalf("sums (-new +kept):\n%s", diff)
			}
			if n, want := len(kept.recorder.Accounts()), len(fresh.recorder.Accounts()); len(a.Out.Usage) == 0 && n != want {
				t.Fatalf("%d accounts are kept in mind, want %d", n, want)
			}
			if rapid.IntRange(0, 3).Draw(t, "heard") > 0 {
				c.AssumeUsage(a.Out.Usage)
			}
		}
	})
}

// TestACycleInWhichNothingHappenedLooksAtNoGang checks that the cost of a cycle without changes does not grow with
// the number of gangs.
func TestACycleInWhichNothingHappenedLooksAtNoGang(t *testing.T) {
	cost := func(gangs int) float64 {
		c, p := model.New(), policy()
		c.Apply(model.NodeFrom(make.Node("n").CPU("100000").Obj()))
		for i := range gangs {
			name := fmt.Sprintf("g%d", i)
			c.Apply(model.GangFrom(make.Gang(name).Queue("q0").Annotation(keys.User, "user-"+name).Obj()))
			c.Apply(model.TaskFrom(make.Pod(name+"-0").Gang(name).CPU("1").On("n").Phase(corev1.PodRunning).Obj(), true))
		}
		for range 2 { // the difference is recorded and applied
			c.AssumeUsage(opened(p, make.Epoch, c).Out.Usage)
		}
		var ledger queue.Ledger
		ledger.Open(c)
		return testing.AllocsPerRun(20, func() { p.Open(session.Open(make.Epoch, c, nil, nil, &ledger, nil)) })
	}
	if few, many := cost(10), cost(10_000); many > few {
		t.Errorf("a cycle allocates %v times with 10 gangs, %v times with 10,000", few, many)
	}
}
