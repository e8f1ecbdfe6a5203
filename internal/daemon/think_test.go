package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/prospect"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	build "github.com/vc-batch/vc/test/make"
)

func thoughtOfAJob(t *testing.T) *prospect.Thought {
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
	return prospect.Prepare(&prospect.Question{Plan: p, Queues: []*schedulingv1beta1.Queue{openQueue()}, SchedulerNames: []string{"volcano"}, Now: build.Epoch})
}

func openQueue() *schedulingv1beta1.Queue {
	q := build.Queue("default").Weight(1).Obj()
	q.Status.State = schedulingv1beta1.QueueStateOpen
	return q
}

// musing returns a loop that answers questions.
func musing(source *hand) (*loop, chan question) {
	questions := make(chan question)
	return &loop{
		source: source, effects: nowhere{}, engine: &script{began: time.Now()}, cluster: model.New(), period: time.Hour, beat: func(time.Time) {}, log: logr.Discard(),
		muse: muse{questions: questions, make: func() (*scheduler.Engine, error) { return scheduler.New(config.Default()) }},
	}, questions
}

func TestAQuestionIsAnsweredAfterACycleThatHasSeenWhatCameBeforeIt(t *testing.T) {
	thought := thoughtOfAJob(t)
	synctest.Test(t, func(t *testing.T) {
		source := newHand()
		l, questions := musing(source)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.run(ctx) }()
		synctest.Wait()
		source.mu.Lock() // received, but not yet a reason for a cycle
		source.inbox = append(source.inbox, model.QueueFrom(openQueue()), model.NodeFrom(build.Node("n").CPU("4").Memory("4Gi").Obj()))
		source.mu.Unlock()
		answer := make(chan insightv1alpha1.PlanStatus, 1)
		questions <- question{thought: thought, answer: answer}
		status := <-answer
		if status.Verdict != insightv1alpha1.VerdictStarts || status.Answers[0].Placements[0].Node != "n" {
			t.Errorf("%+v", status)
		}
		stop()
		<-done
	})
}

func TestAThoughtThatFailsIsToldAndEndsNothing(t *testing.T) {
	t.Parallel()
	l, _ := musing(newHand())
	ask := func(thought *prospect.Thought) insightv1alpha1.PlanStatus {
		answer := make(chan insightv1alpha1.PlanStatus, 1)
		l.muse.asked = &question{thought: thought, answer: answer}
		for l.think(build.Epoch) {
		}
		return <-answer
	}
	if status := ask(nil); !strings.Contains(status.Problem, "failed at it") || l.muse.engine != nil {
		t.Errorf("a panic: %+v", status)
	}
	l.muse.make = func() (*scheduler.Engine, error) { return nil, errors.New("no engine today") }
	if status := ask(thoughtOfAJob(t)); status.Problem != "no engine today" {
		t.Errorf("no engine: %+v", status)
	}
	l.muse.make = func() (*scheduler.Engine, error) { return scheduler.New(config.Default()) }
	if status := ask(thoughtOfAJob(t)); status.Problem != "" || status.Verdict == "" {
		t.Errorf("afterwards: %+v", status)
	}
	if l.think(build.Epoch.Add(forgetThinker)); l.muse.engine == nil {
		t.Error("the second engine is given up too early")
	}
	if l.think(build.Epoch.Add(forgetThinker + time.Second)); l.muse.engine != nil {
		t.Error("the second engine is kept for ever")
	}
}
