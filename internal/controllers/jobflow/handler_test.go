package jobflow

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

// TestEachEventOfAJobReconcilesItsFlow verifies that jobs without a flow, and owners of other kinds, reconcile nothing.
func TestEachEventOfAJobReconcilesItsFlow(t *testing.T) {
	flow := types.NamespacedName{Namespace: "default", Name: "f"}
	job := func(kind string) *batchv1alpha1.Job {
		job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "f-a", Namespace: flow.Namespace}}
		if kind != "" {
			owner := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: flow.Name, UID: "flow"}}
			job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, flowv1alpha1.GroupVersion.WithKind(kind))}
		}
		return job
	}
	r := New(Options{})
	for name, send := range map[string]func(*batchv1alpha1.Job, queue){
		"create": func(job *batchv1alpha1.Job, q queue) {
			r.jobHandler().Create(t.Context(), event.CreateEvent{Object: job}, q)
		},
		"update": func(job *batchv1alpha1.Job, q queue) {
			r.jobHandler().Update(t.Context(), event.UpdateEvent{ObjectOld: job, ObjectNew: job}, q)
		},
		"delete": func(job *batchv1alpha1.Job, q queue) {
			r.jobHandler().Delete(t.Context(), event.DeleteEvent{Object: job}, q)
		},
	} {
		for kind, want := range map[string]int{"JobFlow": 1, "CronJob": 0, "": 0} {
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			send(job(kind), q)
			if q.Len() != want {
				t.Errorf("%s of a job with owner %q: %d requests, want %d", name, kind, q.Len(), want)
			}
			if q.Len() > 0 {
				if request, _ := q.Get(); request.NamespacedName != flow {
					t.Errorf("%s: request for %s, want %s", name, request, flow)
				}
			}
			q.ShutDown()
		}
	}
}

// TestATemplateReconcilesTheFlowsThatUseIt verifies that a template that is created late lets the steps start that wait for
// it.
func TestATemplateReconcilesTheFlowsThatUseIt(t *testing.T) {
	server := apiserver.New(scheme, func() time.Time { return epoch })
	for name, steps := range map[string][]string{"uses-a": {"b", "a"}, "uses-b": {"b"}} {
		flow := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
		for _, step := range steps {
			flow.Spec.Flows = append(flow.Spec.Flows, flowv1alpha1.Flow{Name: step})
		}
		server.Save(flow)
	}
	r := New(Options{Cache: server.Cache(), API: server.Client(), Recorder: record.NewFakeRecorder(20), Now: func() time.Time { return epoch }})
	template := &flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}
	want := []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "default", Name: "uses-a"}}}
	if diff := cmp.Diff(want, r.flowsUsing(t.Context(), template)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	template.Namespace = "other"
	if got := r.flowsUsing(t.Context(), template); len(got) > 0 {
		t.Errorf("a template of another namespace reconciles %v", got)
	}
}
