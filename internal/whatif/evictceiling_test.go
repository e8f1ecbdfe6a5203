package whatif

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// byCapacity is a configuration in which queues lose what they hold beyond their deserved resources.
const byCapacity = `actions: "enqueue, allocate, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]
`

// planOf returns a question about objects.
func planOf(t testing.TB, queues []*schedulingv1beta1.Queue, objects ...runtime.Object) *Simulation {
	p := &insightv1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "uid"}}
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		p.Spec.Objects = append(p.Spec.Objects, runtime.RawExtension{Raw: raw})
	}
	return PrepareSimulation(&Question{Plan: p, Queues: queues, SchedulerNames: []string{"volcano"}, Now: make.Epoch})
}

// TestEvictingAnswerCeiling measures how long the loop is blocked by plans that would evict pods of other queues: a
// queue deserves more, and a gang of 50 waits in it. It runs only with VC_BENCH=1.
func TestEvictingAnswerCeiling(t *testing.T) {
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("set VC_BENCH=1 (make bench) to measure")
	}
	for _, nodes := range []int{500, 2000, 5000} {
		c, queues := busy(nodes, 0)
		poor := make.Queue("b").Deserved("cpu", "1").Obj()
		poor.Status.State = schedulingv1beta1.QueueStateOpen
		c.Apply(model.QueueFrom(poor), model.GangFrom(make.Gang("hungry").Min(50).Queue("b").Phase(schedulingv1beta1.PodGroupInqueue).Obj()))
		for k := range 50 {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("hungry-%d", k)).Gang("hungry").CPU("2").Memory("1Gi").Obj(), true))
		}
		queues[2] = poor
		rich := poor.DeepCopy()
		rich.TypeMeta = metav1.TypeMeta{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue"}
		rich.Spec.Deserved["cpu"] = resource.MustParse("1000")
		cfg, _, err := config.Parse([]byte(byCapacity))
		if err != nil {
			t.Fatal(err)
		}
		thinker, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"first answer", "again"} {
			simulation := planOf(t, queues, rich)
			began := time.Now()
			status := simulation.RunAllSlices(make.Epoch.Add(time.Minute), thinker, c)
			took := time.Since(began)
			t.Logf("BENCH\tplan of a queue that takes from others, %s\t%d\t%.4g\tms\t%s", name, nodes, took.Seconds()*1000, status.Answers[0].Message)
			if status.VictimCount < 50 {
				t.Errorf("%s on %d nodes: %d victims, want 50 at least", name, nodes, status.VictimCount)
			}
			if took > 2*time.Second {
				t.Errorf("%s: %v on %d nodes; the ceiling is 2 s", name, took, nodes)
			}
		}
	}
}
