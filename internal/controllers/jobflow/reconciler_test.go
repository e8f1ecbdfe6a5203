package jobflow

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/apiserver"
)

// stepSpec is the specification of a job that the API server accepts.
var stepSpec = batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "t", Replicas: 1}}}

// oneStep returns a flow of one step, its template, and its controller.
func oneStep(t *testing.T, create error, objects ...client.Object) (*apiserver.Server, func() ([]string, error)) {
	t.Helper()
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.in.Flow.Spec.JobRetainPolicy = flowv1alpha1.Delete
	server := apiserver.New(scheme, func() time.Time { return epoch })
	for _, o := range append(objects, w.in.Flow, w.in.Templates["a"]) {
		server.Save(o)
	}
	api := apiserver.NewConnection(server)
	api.Rejected = map[string]error{"create Job default/f-a": create}
	recorder := record.NewFakeRecorder(20)
	r := New(Options{Cache: server.Cache(), API: api.Client(), Recorder: recorder, Now: func() time.Time { return epoch }})
	return server, func() ([]string, error) {
		_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "f"}})
		var events []string
		for len(recorder.Events) > 0 {
			if e := <-recorder.Events; !strings.Contains(e, phaseOfFlow) {
				events = append(events, e)
			}
		}
		return events, err
	}
}

func TestWhatTheAPIServerAnswersToAStep(t *testing.T) {
	jobs := schema.GroupResource{Group: batchv1alpha1.GroupVersion.Group, Resource: "jobs"}
	ending := apierrors.NewForbidden(jobs, "f-a", errors.New("the namespace is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	// A foreign job whose labels refer to the flow (#4090).
	foreign := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "f-a", Namespace: "default", Labels: map[string]string{keys.CreatedByJobFlow: "default.f"}}, Spec: stepSpec}
	for name, c := range map[string]struct {
		create  error
		objects []client.Object
		events  []string
		again   bool
	}{
		"it is made":                  {events: []string{"Normal Created create a job named f-a!"}},
		"the namespace is going away": {create: ending, events: []string{"Warning NamespaceTerminating job not created: the namespace is being deleted"}},
		"it is refused":               {create: errors.New("no"), again: true, events: []string{"Warning FailedCreate job f-a: no"}},
		"a job of others has its name": {objects: []client.Object{foreign}, again: true, events: []string{
			"Warning ForeignJob job f-a exists but does not belong to this flow, so the step waits; delete the job or rename the flow",
			"Warning FailedCreate job f-a: a job that does not belong to this flow has this name"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, look := oneStep(t, c.create, c.objects...)
			events, err := look()
			if (err != nil) != c.again {
				t.Errorf("error %v, to be tried again: %v", err, c.again)
			}
			if diff := cmp.Diff(c.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoJobIsCreatedAgainInATerminatingNamespace verifies that a flow sends no more creates after the first one was refused
// because the namespace is being deleted, and that a flow with the same name in a new namespace creates its jobs.
func TestNoJobIsCreatedAgainInATerminatingNamespace(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, flowv1alpha1.Flow{Name: "b"})
	server := apiserver.New(scheme, func() time.Time { return epoch })
	for _, o := range []client.Object{w.in.Flow, w.in.Templates["a"], w.in.Templates["b"]} {
		server.Save(o)
	}
	api := apiserver.NewConnection(server)
	r := New(Options{Cache: server.Cache(), API: api.Client(), Recorder: record.NewFakeRecorder(20), Now: func() time.Time { return epoch }})
	reconcileFlow := func() {
		t.Helper()
		request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w.in.Flow)}
		if _, err := r.Reconcile(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	jobs := schema.GroupResource{Group: batchv1alpha1.GroupVersion.Group, Resource: "jobs"}
	ending := apierrors.NewForbidden(jobs, "f-a", errors.New("the namespace is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	api.Rejected = map[string]error{"create Job default/f-a": ending, "create Job default/f-b": ending}
	for range 3 {
		reconcileFlow()
	}
	creates := slices.DeleteFunc(slices.Clone(api.Writes), func(write string) bool { return !strings.HasPrefix(write, "create Job ") })
	if diff := cmp.Diff([]string{"create Job default/f-a"}, creates); diff != "" {
		t.Errorf("creates (-want +got):\n%s", diff)
	}
	server.Remove(apiserver.Find[*flowv1alpha1.JobFlow](server, "default", "f"))
	again := w.in.Flow.DeepCopy()
	again.UID, again.ResourceVersion = "another", ""
	server.Save(again)
	api.Rejected = nil
	reconcileFlow()
	if got := apiserver.All[*batchv1alpha1.Job](server); len(got) != 2 {
		t.Errorf("the flow with the same name has %d jobs, want 2", len(got))
	}
	server.Remove(apiserver.Find[*flowv1alpha1.JobFlow](server, "default", "f"))
	reconcileFlow()
	if len(r.ending.flows) > 0 {
		t.Errorf("stored after the flow was deleted: %v", r.ending.flows)
	}
}

// TestAJobOfOthersWithTheLabelsOfAFlowIsNotTheFlows verifies that it is not listed, and not deleted with the flow's
// jobs (#4090).
func TestAJobOfOthersWithTheLabelsOfAFlowIsNotTheFlows(t *testing.T) {
	labels := map[string]string{keys.CreatedByJobFlow: "default.f", keys.CreatedByJobTemplate: "default.a"}
	foreign := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: "default", Labels: labels}, Spec: stepSpec}
	foreign.Status.State.Phase = batchv1alpha1.Failed
	server, look := oneStep(t, nil, foreign)
	if _, err := look(); err != nil {
		t.Fatal(err)
	}
	job := apiserver.Find[*batchv1alpha1.Job](server, "default", "f-a").DeepCopy()
	job.Status.State.Phase = batchv1alpha1.Completed
	server.Save(job)
	for range 3 {
		if _, err := look(); err != nil {
			t.Fatal(err)
		}
	}
	f, left := apiserver.Find[*flowv1alpha1.JobFlow](server, "default", "f"), apiserver.All[*batchv1alpha1.Job](server)
	if len(f.Status.JobStatusList) != 1 || f.Status.State.Phase != flowv1alpha1.Succeed {
		t.Errorf("the flow is %s of %v", f.Status.State.Phase, f.Status.JobStatusList)
	}
	if len(left) != 1 || left[0].Name != "mine" {
		t.Errorf("left are %d jobs, want the one of others", len(left))
	}
}

func TestEndsOfFlowsAreCountedUnderVolcanosNames(t *testing.T) {
	flowMetrics.Register()
	f := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f", Namespace: "counted"}}
	for range 2 {
		countPhaseEntry(f, flowv1alpha1.Succeed)
	}
	countPhaseEntry(f, flowv1alpha1.Failed)
	countPhaseEntry(f, flowv1alpha1.Running)
	f.Status.State.Phase = flowv1alpha1.Failed
	countPhaseEntry(f, flowv1alpha1.Failed) // the phase was the same before
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "jobflow_namespace" && l.GetValue() == "counted" {
					got[family.GetName()] = m.GetCounter().GetValue()
				}
			}
		}
	}
	if diff := cmp.Diff(map[string]float64{"volcano_jobflow_succeed_phase_count": 2, "volcano_jobflow_failed_phase_count": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJobsThatAreGoneAreRememberedNoLongerThanNeeded(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	f := w.in.Flow
	name := types.NamespacedName{Namespace: f.Namespace, Name: f.Name}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "f-a", Namespace: f.Namespace,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(f, flowv1alpha1.GroupVersion.WithKind("JobFlow"))}}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "w"}}
	job.Status.State.Phase = batchv1alpha1.Completed
	server := apiserver.New(scheme, func() time.Time { return epoch })
	r := New(Options{Cache: server.Cache(), API: server.Client(), Recorder: record.NewFakeRecorder(20), Now: func() time.Time { return epoch }})
	r.gone.storeDeleted(job)
	of := r.gone.deletedJobs(f)
	if of["f-a"] == nil || of["f-a"].Status.State.Phase != batchv1alpha1.Completed || len(of["f-a"].Spec.Tasks) > 0 {
		t.Errorf("remembered: %+v", of["f-a"])
	}
	another := f.DeepCopy()
	another.UID = "another"
	another.Status.JobStatusList = []flowv1alpha1.JobStatus{{Name: "f-a", State: batchv1alpha1.Completed}}
	if of := r.gone.deletedJobs(another); len(of) > 0 || len(r.gone.deletedJobs(f)) == 0 {
		t.Error("a flow of the same name that came later has its jobs, or takes them away")
	}
	told := f.DeepCopy()
	told.Status.JobStatusList = []flowv1alpha1.JobStatus{{Name: "f-a", State: batchv1alpha1.Completed}}
	if of := r.gone.deletedJobs(told); len(of) > 0 || len(r.gone.flows) > 0 {
		t.Errorf("after the status says it: %v", r.gone.flows)
	}
	// The flow is not in the cache, so it was deleted.
	r.gone.storeDeleted(job)
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: name}); err != nil || len(r.gone.flows) > 0 {
		t.Errorf("after the flow has gone: %v, %v", r.gone.flows, err)
	}
}

// TestAConflictIsReturnedAsAnError: the delay before the next attempt grows only after an error.
func TestAConflictIsReturnedAsAnError(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	server := apiserver.New(scheme, func() time.Time { return epoch })
	server.Save(w.in.Flow)
	server.Save(w.in.Templates["a"])
	api := apiserver.NewConnection(server)
	r := New(Options{Cache: server.Cache(), API: api.Client(), Recorder: record.NewFakeRecorder(20), Now: func() time.Time { return epoch }})
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "jobflows"}, "f", errors.New("modified"))
	api.Rejected = map[string]error{"update status of JobFlow default/f": conflict}
	_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "f"}})
	if !errors.Is(err, conflict) {
		t.Errorf("error %v, want the conflict; writes: %v", err, api.Writes)
	}
}

// TestTheStatusIsWrittenAlthoughAJobIsRejected verifies that the status shows the completion of a step although the API
// server rejects the job of the next one.
func TestTheStatusIsWrittenAlthoughAJobIsRejected(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, flowv1alpha1.Flow{Name: "b", DependsOn: &flowv1alpha1.DependsOn{Targets: []string{"a"}}})
	server := apiserver.New(scheme, func() time.Time { return epoch })
	for _, o := range []client.Object{w.in.Flow, w.in.Templates["a"], w.in.Templates["b"]} {
		server.Save(o)
	}
	api := apiserver.NewConnection(server)
	closed := errors.New("the queue is closed")
	api.Rejected = map[string]error{"create Job default/f-b": closed}
	r := New(Options{Cache: server.Cache(), API: api.Client(), Recorder: record.NewFakeRecorder(20), Now: func() time.Time { return epoch }})
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "f"}}
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	job := apiserver.Find[*batchv1alpha1.Job](server, "default", "f-a").DeepCopy()
	job.Status.State.Phase = batchv1alpha1.Completed
	server.Save(job)
	if _, err := r.Reconcile(t.Context(), request); !errors.Is(err, closed) {
		t.Errorf("error %v, want that of the API server, so that the creation is repeated", err)
	}
	status := apiserver.Find[*flowv1alpha1.JobFlow](server, "default", "f").Status
	if !slices.Contains(status.CompletedJobs, "f-a") {
		t.Errorf("completed steps: %v, want f-a", status.CompletedJobs)
	}
}
