package resourcequota_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestThousandsWaitForOneQuota admits half of 8,000 gangs of one namespace. The sum of promised resources must not
// be computed for each of them: that took 7 s per cycle on two cores of 2026 instead of 0.07 s.
func TestThousandsWaitForOneQuota(t *testing.T) {
	const gangs, most = 8000, 2 * time.Second
	cfg, _, err := config.Parse([]byte("actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: gang}, {name: resourcequota}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	c.Apply(model.NodeFrom(make.Node("n").CPU("4").Obj()))
	c.Apply(model.QueueFrom(make.Queue("default").Obj()))
	hard := corev1.ResourceList{"requests.cpu": resource.MustParse(fmt.Sprint(gangs / 2)), "requests.memory": resource.MustParse("1000Gi"), "pods": resource.MustParse("1000000")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"}}
	quota.Spec.Hard, quota.Status.Hard = hard, hard
	c.Apply(model.QuotaFrom(quota))
	for i := range gangs {
		g := make.Gang(fmt.Sprintf("g%05d", i)).Min(1).MinResource("cpu", "1").Obj()
		g.UID = types.UID(g.Name)
		c.Apply(model.GangFrom(g))
	}
	now := make.Epoch
	for cycle := range 2 {
		now = now.Add(2 * time.Second)
		began := time.Now()
		d := engine.Cycle(now, c)
		if took := time.Since(began); took > most {
			t.Errorf("cycle %d takes %v, want %v at most", cycle, took, most)
		}
		decision.Assume(c, &d)
	}
	inside := 0
	for _, g := range c.Gangs {
		if g.Status.Phase == schedulingv1beta1.PodGroupInqueue {
			inside++
		}
	}
	if inside != gangs/2 {
		t.Errorf("%d gangs are let in, want the %d that the quota has room for", inside, gangs/2)
	}
}
