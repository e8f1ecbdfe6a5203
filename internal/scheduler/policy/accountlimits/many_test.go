package accountlimits_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/schedulertest"
)

// waiting returns a cluster with gangs of one user, of which the limits of accounts permit half.
func waiting(gangs int, limited bool) *model.Cluster {
	c := model.New()
	c.Apply(model.NodeFrom(make.Node("n").CPU("1").Obj()), model.QueueFrom(make.Queue("default").Obj()))
	if limited {
		c.Apply(model.AccountFrom(make.Account("top").MaxResource("cpu", fmt.Sprint(gangs)).Obj()),
			model.AccountFrom(make.Account("a").Parent("top").MaxRunningJobs(int32(gangs)).UserMaxRunningJobs("", int32(gangs/2)).Obj()))
	}
	for i := range gangs {
		g := make.Gang(fmt.Sprintf("g%05d", i)).Min(1).MinResource("cpu", "1").Label(keys.Account, "a").Annotation(keys.User, "ann").Obj()
		g.UID = types.UID(g.Name)
		c.Apply(model.GangFrom(g))
	}
	return c
}

const admitting = "actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: gang}]}]"

// TestThousandsWaitForOneLimit admits half of 8,000 gangs of one user. A cycle that admits or holds back a gang must not
// count the others again.
func TestThousandsWaitForOneLimit(t *testing.T) {
	const gangs, most = 8000, 5 * time.Second // 0.2 s on two cores of 2026
	engine, c, now := schedulertest.NewEngine(t, admitting), waiting(gangs, true), make.Epoch
	for cycle := range 2 {
		now = now.Add(2 * time.Second)
		began := time.Now()
		d := engine.Cycle(now, c)
		if took := time.Since(began); took > most {
			t.Errorf("cycle %d takes %v, want %v at most", cycle, took, most)
		}
		decision.Assume(c, &d)
	}
	admitted := 0
	for _, g := range c.Gangs {
		if g.Status.Phase == schedulingv1beta1.PodGroupInqueue {
			admitted++
		}
	}
	if admitted != gangs/2 {
		t.Errorf("%d gangs are admitted, want the %d that the limit permits", admitted, gangs/2)
	}
}

// BenchmarkAdmission admits 8,000 gangs, with limits of accounts and without.
func BenchmarkAdmission(b *testing.B) {
	for name, limited := range map[string]bool{"limits": true, "no limits": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				engine, c := schedulertest.NewEngine(b, admitting), waiting(8000, limited)
				b.StartTimer()
				engine.Cycle(make.Epoch, c)
			}
		})
	}
}
