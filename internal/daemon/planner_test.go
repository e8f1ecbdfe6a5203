package daemon

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	build "github.com/vc-batch/vc/test/make"
)

// planOf returns a plan for one job with replicas pods.
func planOf(t *testing.T, name string, replicas int32) *insightv1alpha1.Plan {
	t.Helper()
	job := &batchv1alpha1.Job{TypeMeta: metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: "j"}}
	job.Spec.Queue = "default"
	task := batchv1alpha1.TaskSpec{Name: "main", Replicas: replicas}
	task.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	task.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{task}
	raw, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	return &insightv1alpha1.Plan{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Now()},
		Spec:       insightv1alpha1.PlanSpec{Objects: []runtime.RawExtension{{Raw: raw}}},
	}
}

// aPlanner returns a planner with a fake API server. statuses collects the statuses of plans that it writes, in order.
func aPlanner(plans ...client.Object) (p *planner, statuses *[]insightv1alpha1.PlanStatus) {
	scheme := newScheme()
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(plans, openQueue())...).WithStatusSubresource(&insightv1alpha1.Plan{}).Build()
	statuses = &[]insightv1alpha1.PlanStatus{}
	return &planner{
		api: &planRecorder{Client: api, statuses: statuses}, scheme: scheme, schedulers: []string{"volcano"}, fence: func() error { return nil },
		copies: make(chan chan<- *model.Cluster), engine: newTestEngine, now: time.Now, log: logr.Discard(), taken: map[types.UID]bool{},
	}, statuses
}

// planRecorder records the written statuses of plans.
type planRecorder struct {
	client.Client
	statuses *[]insightv1alpha1.PlanStatus
}

func (r *planRecorder) Status() client.SubResourceWriter {
	return &statusRecorder{r.Client.Status(), r}
}

type statusRecorder struct {
	client.SubResourceWriter
	r *planRecorder
}

func (s *statusRecorder) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	*s.r.statuses = append(*s.r.statuses, o.(*insightv1alpha1.Plan).DeepCopy().Status)
	return s.SubResourceWriter.Update(ctx, o, options...)
}

func TestAPlanThatIsTooLargeIsAnsweredWithoutTheLoop(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int32{5001, 200_000, 1<<31 - 1} {
		plan := planOf(t, "large", replicas)
		p, statuses := aPlanner(plan)
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second) // no loop sends copies
		if _, err := p.processPlan(ctx, p.api, client.ObjectKeyFromObject(plan)); err != nil {
			t.Errorf("%d replicas: %v", replicas, err)
		}
		stop()
		if n := len(*statuses); n == 0 || !strings.Contains((*statuses)[n-1].Problem, "at most 5000") || (*statuses)[n-1].AnsweredAt == nil {
			t.Errorf("%d replicas: %+v", replicas, *statuses)
		}
	}
}

func TestAPlanIsMarkedBeforeItIsSimulatedAndNotSimulatedByTheNextProcess(t *testing.T) {
	t.Parallel()
	plan := planOf(t, "deadly", 1)
	first, statuses := aPlanner(plan)
	ctx, end := context.WithCancel(t.Context())
	taken := make(chan chan<- *model.Cluster)
	go func() { taken <- <-first.copies }()
	done := make(chan error, 1)
	go func() {
		_, err := first.processPlan(ctx, first.api, client.ObjectKeyFromObject(plan))
		done <- err
	}()
	<-taken
	end() // the process dies during the simulation
	if err := <-done; err == nil {
		t.Error("the first process has an answer")
	}
	if len(*statuses) != 1 || (*statuses)[0].TakenUpAt == nil || (*statuses)[0].AnsweredAt != nil {
		t.Fatalf("before the simulation: %+v", *statuses)
	}
	second, statuses := aPlanner()
	second.api = &planRecorder{Client: first.api.(*planRecorder).Client, statuses: statuses}
	if _, err := second.processPlan(t.Context(), second.api, client.ObjectKeyFromObject(plan)); err != nil {
		t.Fatal(err)
	}
	if len(*statuses) != 1 || (*statuses)[0].Problem == "" || (*statuses)[0].AnsweredAt == nil {
		t.Errorf("the next process: %+v", *statuses)
	}
}

func TestAPlanThatThisProcessTookUpIsTriedAgain(t *testing.T) {
	t.Parallel()
	plan := planOf(t, "busy", 1)
	p, statuses := aPlanner(plan)
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := p.processPlan(ctx, p.api, client.ObjectKeyFromObject(plan)); err == nil {
		t.Fatal("answered without a loop")
	}
	go func() {
		c := model.New()
		c.Apply(model.QueueFrom(openQueue()), model.NodeFrom(build.Node("n").CPU("4").Memory("4Gi").Obj()))
		<-p.copies <- c
	}()
	if _, err := p.processPlan(t.Context(), p.api, client.ObjectKeyFromObject(plan)); err != nil {
		t.Fatal(err)
	}
	if last := (*statuses)[len(*statuses)-1]; last.Verdict != insightv1alpha1.VerdictStarts || last.TakenUpAt == nil {
		t.Errorf("%+v", last)
	}
}
