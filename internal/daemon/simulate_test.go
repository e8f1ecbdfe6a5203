package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/whatif"
	build "github.com/vc-batch/vc/test/make"
)

func simulationOfAJob(t *testing.T) *whatif.Simulation {
	t.Helper()
	job := &batchv1alpha1.Job{TypeMeta: metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: "j"}}
	job.Spec.Queue = "default"
	task := batchv1alpha1.TaskSpec{Name: "main", Replicas: 1}
	task.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	task.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{task}
	raw, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	p := &insightv1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}, Spec: insightv1alpha1.PlanSpec{Objects: []runtime.RawExtension{{Raw: raw}}}}
	return whatif.PrepareSimulation(&whatif.Question{Plan: p, Queues: []*schedulingv1beta1.Queue{openQueue()}, SchedulerNames: []string{"volcano"}, Now: build.Epoch})
}

func openQueue() *schedulingv1beta1.Queue {
	q := build.Queue("default").Weight(1).Obj()
	q.Status.State = schedulingv1beta1.QueueStateOpen
	return q
}

// lending returns a loop that sends copies of its model.
func lending(source *hand) (*loop, chan chan<- *model.Cluster) {
	requests := make(chan chan<- *model.Cluster)
	return &loop{
		Loop: cycleloop.Loop{Source: source, Effects: nowhere{}, Engine: &script{began: time.Now()}, Cluster: model.New(), Period: time.Hour},
		beat: func(time.Time) {}, log: logr.Discard(),
		copies: copies{requests: requests},
	}, requests
}

func newTestEngine() (*scheduler.Engine, error) { return scheduler.New(config.Default()) }

func TestACopyIsMadeAfterACycleThatHasSeenWhatCameBeforeTheRequest(t *testing.T) {
	simulation := simulationOfAJob(t)
	synctest.Test(t, func(t *testing.T) {
		source := newHand()
		l, requests := lending(source)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.runCyclesUntilDone(ctx) }()
		synctest.Wait()
		source.mu.Lock() // received, but not yet a reason for a cycle
		source.inbox = append(source.inbox, model.QueueFrom(openQueue()), model.NodeFrom(build.Node("n").CPU("4").Memory("4Gi").Obj()))
		source.mu.Unlock()
		p := &planner{copies: requests, engine: newTestEngine, now: time.Now, log: logr.Discard()}
		status, err := p.simulateOnCopy(ctx, simulation)
		if err != nil || status.Verdict != insightv1alpha1.VerdictStarts || status.Answers[0].Placements[0].Node != "n" {
			t.Errorf("%+v, %v", status, err)
		}
		stop()
		<-done
	})
}

// TestTheLoopCyclesDuringASimulation verifies that a simulation that never ends delays no cycle.
func TestTheLoopCyclesDuringASimulation(t *testing.T) {
	simulation := simulationOfAJob(t)
	synctest.Test(t, func(t *testing.T) {
		source := newHand()
		l, requests := lending(source)
		cycles := 0
		l.beat = func(time.Time) { cycles++ }
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { l.runCyclesUntilDone(ctx) })
		held := make(chan struct{})
		p := &planner{copies: requests, now: time.Now, log: logr.Discard(), engine: func() (*scheduler.Engine, error) {
			<-held
			return newTestEngine()
		}}
		done.Go(func() {
			if _, err := p.simulateOnCopy(ctx, simulation); !errors.Is(err, context.Canceled) {
				t.Errorf("the answer of a term that ended: %v", err)
			}
		})
		synctest.Wait()
		before := cycles
		source.put(model.NodeFrom(build.Node("n").CPU("4").Memory("4Gi").Obj()))
		time.Sleep(time.Second) // of the bubble's clock
		if cycles == before {
			t.Error("no cycle during the simulation")
		}
		stop() // the term ends: the simulation stops after its first slice
		close(held)
		done.Wait()
	})
}

func TestASimulationThatFailsIsReportedAndEndsNothing(t *testing.T) {
	t.Parallel()
	p := &planner{engine: newTestEngine, now: time.Now, log: logr.Discard()}
	simulate := func(simulation *whatif.Simulation) insightv1alpha1.PlanStatus {
		t.Helper()
		status, err := p.runSimulation(t.Context(), simulation, model.New())
		if err != nil {
			t.Error(err)
		}
		return status
	}
	if status := simulate(nil); !strings.Contains(status.Problem, "failed to simulate the plan") {
		t.Errorf("a panic: %+v", status)
	}
	p.engine = func() (*scheduler.Engine, error) { return nil, errors.New("no engine today") }
	if status := simulate(simulationOfAJob(t)); status.Problem != "no engine today" {
		t.Errorf("no engine: %+v", status)
	}
	p.engine = newTestEngine
	if status := simulate(simulationOfAJob(t)); status.Problem != "" || status.Verdict == "" {
		t.Errorf("afterwards: %+v", status)
	}
	p.now = func() time.Time { // each call advances the clock by the longest time of a simulation
		p.restUntil = p.restUntil.Add(longestSimulation + time.Second)
		return p.restUntil
	}
	if status := simulate(simulationOfAJob(t)); !strings.Contains(status.Problem, "did not finish within") || status.Hint == "" {
		t.Errorf("too long: %+v", status)
	}
}
