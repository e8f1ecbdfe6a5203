package whatif

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// busy is a cluster with ten pods on each node and few free resources, in which gangs of ten wait.
func busy(nodes, waiting int) (*model.Cluster, []*schedulingv1beta1.Queue) {
	c := model.New()
	queues := []*schedulingv1beta1.Queue{make.Queue("root").Reclaimable(false).Obj(), make.Queue("a").Weight(1).Obj(), make.Queue("b").Weight(3).Obj()}
	for _, q := range queues {
		q.Status.State = schedulingv1beta1.QueueStateOpen
		c.Apply(model.QueueFrom(q))
	}
	for i := range nodes {
		c.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU("11").Memory("64Gi").Obj()))
		gang := fmt.Sprintf("runs%d", i)
		c.Apply(model.GangFrom(make.Gang(gang).Min(1).Queue("a").Phase(schedulingv1beta1.PodGroupRunning).Obj()))
		for k := range 10 {
			pod := make.Pod(fmt.Sprintf("%s-%d", gang, k)).Gang(gang).CPU("1").Memory("1Gi").On(fmt.Sprintf("n%d", i)).Phase(corev1.PodRunning).Obj()
			c.Apply(model.TaskFrom(pod, true))
		}
	}
	for i := range waiting {
		gang := fmt.Sprintf("waits%d", i)
		c.Apply(model.GangFrom(make.Gang(gang).Min(10).Queue("a").Phase(schedulingv1beta1.PodGroupInqueue).Obj()))
		for k := range 10 {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("%s-%d", gang, k)).Gang(gang).CPU("8").Memory("1Gi").Obj(), true))
		}
	}
	return c, queues
}

func simulationOf(t testing.TB, queues []*schedulingv1beta1.Queue, queue, cpu string, replicas int32) *Simulation {
	job := &batchv1alpha1.Job{TypeMeta: metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: "planned"}}
	job.Spec.Queue, job.Spec.MinAvailable = queue, replicas
	task := batchv1alpha1.TaskSpec{Name: "main", Replicas: replicas}
	task.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	task.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")},
	}}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{task}
	raw, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	p := &insightv1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "uid"}, Spec: insightv1alpha1.PlanSpec{Objects: []runtime.RawExtension{{Raw: raw}}}}
	return PrepareSimulation(&Question{Plan: p, Queues: queues, SchedulerNames: []string{"volcano"}, Now: make.Epoch})
}

// TestAnswerCeiling measures how long the loop is blocked by a plan on a large and busy cluster. It runs only with
// VC_BENCH=1.
func TestAnswerCeiling(t *testing.T) {
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("set VC_BENCH=1 (make bench) to measure")
	}
	for _, nodes := range []int{500, 2000, 5000} {
		c, queues := busy(nodes, 1000)
		cfg, _, err := config.Parse([]byte(configurations["with preemption and reclaim"]))
		if err != nil {
			t.Fatal(err)
		}
		live, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		d := live.Cycle(make.Epoch, c)
		decision.Assume(c, &d)
		first := time.Since(began)
		thinker, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []struct {
			name, queue, cpu string
			replicas         int32
		}{
			{"first answer, starts", "b", "1", 100}, {"starts", "b", "1", 100}, {"waits after a look at 50,000 victims", "b", "3", 20}, {"waits behind others", "a", "8", 100}, {"starts again", "b", "1", 100},
		} {
			simulation := simulationOf(t, queues, q.queue, q.cpu, q.replicas)
			began := time.Now()
			status := simulation.RunAllSlices(make.Epoch.Add(time.Minute), thinker, c)
			took := time.Since(began)
			t.Logf("BENCH\tplan, %s\t%d\t%.4g\tms\t(first cycle of the engine: %v): %s", q.name, nodes, took.Seconds()*1000, first, status.Answers[0].Message)
			if took > time.Second {
				t.Errorf("%s: %v on %d nodes; the ceiling is 1 s", q.name, took, nodes)
			}
		}
	}
}
