package job

import (
	"context"
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
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/backpressure"
	"github.com/vc-batch/vc/test/apiserver"
)

func simpleJob(replicas int32, policies ...batchv1alpha1.LifecyclePolicy) *batchv1alpha1.Job {
	return &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job"}, Spec: batchv1alpha1.JobSpec{
		Queue: "default", Policies: policies, Tasks: []batchv1alpha1.TaskSpec{{Name: "w", Replicas: replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}},
	}}
}

// turn updates the named caches and reconciles; it returns the writes.
func (w *world) turn(t *testing.T, kinds ...string) []string {
	t.Helper()
	for _, kind := range kinds {
		w.see(kind, len(w.server.History))
	}
	if err := w.reconcile(-1, false); err != nil {
		t.Fatal(err)
	}
	w.clock = w.clock.Add(time.Second)
	return w.api.Writes
}

// begun returns a world whose job has all its pods running, with up-to-date caches.
func begun(t *testing.T, job *batchv1alpha1.Job) *world {
	t.Helper()
	w := newWorld(job)
	w.turn(t, watched...)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	w.turn(t, watched...)
	for _, name := range w.podNames() {
		w.kubelet(name, 0)
	}
	w.turn(t, watched...)
	w.turn(t, watched...)
	if phase := w.truth().Status.State.Phase; phase != batchv1alpha1.Running {
		t.Fatalf("phase %s:\n%s", phase, strings.Join(w.trace, "\n"))
	}
	return w
}

func TestOwnWritesAreKnownBeforeTheCacheShowsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2))
	w.turn(t, watched...)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	if diff := cmp.Diff([]string{"create Pod ns/job-w-0", "create Pod ns/job-w-1"}, w.turn(t, "Job", "PodGroup")); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	if writes := w.turn(t, "Job", "PodGroup"); slices.ContainsFunc(writes, func(s string) bool { return strings.HasPrefix(s, "create") }) {
		t.Errorf("created again: %v", writes)
	}
}

func TestAStoppedPodIsNotAnsweredTwice(t *testing.T) {
	t.Parallel()
	job, one := simpleJob(2, batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.RestartPodAction}), int32(1)
	job.Spec.MinAvailable, job.Spec.Tasks[0].MinAvailable = 1, &one
	w := begun(t, job)
	w.kubelet("job-w-0", 1)
	w.turn(t, watched...) // Restarting, pod deleted
	for range 4 {
		w.turn(t, "Job", "PodGroup") // the cache still contains the failed pod
	}
	if phase := w.truth().Status.State.Phase; phase != batchv1alpha1.Running {
		t.Errorf("phase %s: what was deleted need not be seen to be gone", phase)
	}
	for range 3 {
		w.turn(t, watched...)
	}
	if n := w.truth().Status.RetryCount; n != 1 {
		t.Errorf("%d restarts for one failure:\n%s", n, strings.Join(w.trace, "\n"))
	}
}

func TestACommandIsCarriedOutOnceAlthoughTheCacheStillShowsIt(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(1))
	w.command(1, busv1alpha1.RestartJobAction)
	for range 5 {
		w.turn(t, watched...)
		w.kubelet("job-w-0", 0)
		w.schedule(schedulingv1beta1.PodGroupInqueue)
	}
	w.cached.Apply(apiserver.Change{Object: &busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "command-1"}, Action: string(busv1alpha1.RestartJobAction),
		TargetObject: &metav1.OwnerReference{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "job"},
	}})
	w.turn(t)
	if n := w.truth().Status.UserRestarts; n != 1 {
		t.Errorf("%d restarts for one command", n)
	}
}

func TestAnEvictionWhileTheControllerWasAwayIsAnswered(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(2, batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.PodEvictedEvent, Action: busv1alpha1.RestartJobAction}))
	w.turn(t, watched...)
	w.server.Remove(w.pod("job-w-1"))
	for _, kind := range watched {
		w.position[kind] = len(w.server.History)
	}
	w.restart(0) // the new process does not see the deletion, only that the pod is missing
	w.turn(t)
	if s := w.truth().Status; s.State.Phase != batchv1alpha1.Restarting || s.RetryCount != 1 {
		t.Errorf("phase %s, %d restarts", s.State.Phase, s.RetryCount)
	}
}

func TestPodNameThatIsAlreadyTakenIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	w.server.Save(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job-w-0"}, Spec: simpleJob(1).Spec.Tasks[0].Template.Spec})
	w.turn(t, watched...)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	w.seeAll()
	if err := w.reconcile(-1, false); err == nil || !strings.Contains(err.Error(), "does not belong to this job") {
		t.Errorf("error %v", err)
	}
	if !slices.ContainsFunc(w.events, func(e string) bool { return strings.HasPrefix(e, "Warning FailedCreate: pod job-w-0") }) {
		t.Errorf("events %v", w.events)
	}
}

func TestPluginObjectsLiveAsLongAsTheJobRuns(t *testing.T) {
	t.Parallel()
	job := simpleJob(2)
	job.Spec.Plugins = map[string][]string{"svc": {}, "ssh": {}}
	w := begun(t, job)
	secret := apiserver.Find[*corev1.Secret](w.server, "ns", "job-ssh")
	if secret == nil {
		t.Fatalf("no secret:\n%s", strings.Join(w.trace, "\n"))
	}
	w.scale(0, 3)
	w.turn(t, watched...)
	hosts := apiserver.Find[*corev1.ConfigMap](w.server, "ns", "job-svc").Data["w.host"]
	if hosts != "job-w-0.job\njob-w-1.job\njob-w-2.job" {
		t.Errorf("hosts after scaling up: %q", hosts)
	}
	scaled := apiserver.Find[*corev1.Secret](w.server, "ns", "job-ssh")
	if !strings.Contains(string(scaled.Data["config"]), "Host job-w-2\n") || string(scaled.Data["id_rsa"]) != string(secret.Data["id_rsa"]) {
		t.Error("scaling up should add the host and keep the key")
	}
	w.command(1, busv1alpha1.RestartJobAction)
	if err := w.calm(); err != nil {
		t.Fatal(err)
	}
	for _, o := range w.objects("Secret", "Service", "NetworkPolicy", "ConfigMap") {
		t.Errorf("%T %s is left behind", o, o.GetName())
	}
	if strings.Contains(strings.Join(w.trace, "\n"), "delete Secret ns/job-ssh, create Secret") {
		t.Error("the restart made new keys")
	}
}

func TestTheStatusIsNotWrittenForEveryPod(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(3))
	w.turn(t, watched...)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	w.turn(t, watched...)
	writes := 0
	for _, name := range w.podNames()[:2] {
		w.kubelet(name, 0)
		w.seeAll()
		if err := w.reconcile(-1, false); err != nil {
			t.Fatal(err)
		}
		writes += len(w.api.Writes)
		w.clock = w.clock.Add(time.Millisecond)
	}
	if writes > 1 {
		t.Errorf("%d writes within a few milliseconds", writes)
	}
	w.turn(t, watched...)
	w.clock = w.clock.Add(time.Second)
	w.turn(t, watched...)
	if n := w.truth().Status.Running; n != 2 {
		t.Errorf("status counts %d running pods, 2 are", n)
	}
}

func TestWarningIsReportedOnce(t *testing.T) {
	t.Parallel()
	job := simpleJob(1)
	job.Spec.Queue = "nowhere"
	w := newWorld(job)
	for range 5 {
		w.turn(t, watched...)
	}
	if diff := cmp.Diff([]string{"Warning QueueMissing: queue nowhere does not exist"}, w.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTroubleIsWrittenWherePeopleLook(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	w.turn(t, watched...)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "job-w-0", errors.New("exceeded quota"))
	w.api.Rejected = map[string]error{"create Pod ns/job-w-0": quota}
	for range 2 * DefaultMaxRequeue {
		w.seeAll()
		if err := w.reconcile(-1, false); err == nil {
			t.Fatal("the refusal is not returned, so nobody tries again")
		}
	}
	state := w.truth().Status.State
	if state.Phase != batchv1alpha1.Pending || state.Reason != "FailedCreate" || !strings.Contains(state.Message, "exceeded quota") {
		t.Errorf("state %+v", state)
	}
	w.api.Rejected = nil
	w.turn(t, watched...)
	w.turn(t, watched...)
	if state := w.truth().Status.State; state.Reason != "" {
		t.Errorf("state %+v when the trouble is over", state)
	}
}

func TestFailedDeletionIsReportedAndRetried(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(2))
	w.scale(0, 1)
	w.api.Rejected = map[string]error{"delete Pod ns/job-w-1": apierrors.NewInternalError(errors.New("no"))}
	w.seeAll()
	if err := w.reconcile(-1, false); err == nil {
		t.Fatal("the refusal is not returned, so nobody tries again")
	}
	if !slices.ContainsFunc(w.events, func(e string) bool { return strings.HasPrefix(e, "Warning FailedDelete: ") }) {
		t.Errorf("%q", w.events)
	}
	w.api.Rejected = nil
	w.turn(t, watched...)
	if pod := w.pod("job-w-1"); pod != nil && pod.DeletionTimestamp == nil {
		t.Error("it is not tried again")
	}
}

func TestNoPodsAreMadeInANamespaceThatGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	w.turn(t, watched...)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	going := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "job-w-0", errors.New("namespace ns is being terminated"))
	going.ErrStatus.Details.Causes = append(going.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	w.api.Rejected = map[string]error{"create Pod ns/job-w-0": going}
	w.turn(t, watched...) // without an error that would be retried again and again
	if len(w.events) > 0 {
		t.Errorf("%q", w.events)
	}
}

// TestNoObjectIsCreatedAgainInATerminatingNamespace verifies that a job sends no more creates after the first one was
// refused because the namespace is being deleted, although each deleted pod causes another reconcile.
func TestNoObjectIsCreatedAgainInATerminatingNamespace(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(3))
	remove := &apiserver.Request{Verb: apiserver.Delete, Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: "ns"}
	if _, err := w.server.Do(remove); err != nil {
		t.Fatal(err)
	}
	var creates []string
	for _, name := range []string{"job-w-2", "job-w-1", "job-w-0"} {
		w.server.Remove(w.pod(name))
		for range 2 {
			for _, write := range w.turn(t, watched...) {
				if strings.HasPrefix(write, "create ") {
					creates = append(creates, write)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"create Pod ns/job-w-2"}, creates); diff != "" {
		t.Errorf("the job sent other creates (-want +got):\n%s", diff)
	}
}

func TestAJobWhosePodsAreNeverAcceptedIsTerminated(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	w.turn(t, watched...)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	w.api.Rejected = map[string]error{"create Pod ns/job-w-0": apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "job-w-0", nil)}
	for range DefaultMaxRequeue + 3 {
		w.seeAll()
		_ = w.reconcile(-1, false)
	}
	state := w.truth().Status.State
	if state.Phase != batchv1alpha1.Terminated || !strings.HasPrefix(state.Message, "retry limit reached: ") || !strings.Contains(state.Message, "is invalid") {
		t.Errorf("state %+v", state)
	}
}

func TestAJobTakesOverTheNamesOfAnOlderOne(t *testing.T) {
	t.Parallel()
	job := simpleJob(1)
	job.Spec.Plugins = map[string][]string{"svc": {}}
	w := begun(t, job)
	w.server.Remove(w.truth())
	job = job.DeepCopy()
	w.server.Save(job)
	if err := w.calm(); err != nil {
		t.Fatal(err)
	}
	pod, now := w.pod("job-w-0"), w.truth()
	if pod == nil || !metav1.IsControlledBy(pod, now) || now.Status.State.Phase != batchv1alpha1.Completed {
		t.Errorf("job %s, pod %v:\n%s", now.Status.State.Phase, pod, strings.Join(w.trace, "\n"))
	}
}

func TestThePodsOfADeletedJobAreStopped(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(2))
	orphan := w.pod("job-w-1").DeepCopy()
	w.server.Remove(w.truth())
	w.seeAll()
	orphan.OwnerReferences = nil // its owner reference was removed, but the cache is outdated
	w.server.Save(orphan)
	w.turn(t)
	if w.pod("job-w-0").DeletionTimestamp == nil || w.pod("job-w-1").DeletionTimestamp != nil {
		t.Errorf("job-w-0 should go, job-w-1 should stay:\n%s", strings.Join(w.trace, "\n"))
	}
}

// countedCache counts the lists.
type countedCache struct {
	client.Reader
	lists int
}

func (c *countedCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	c.lists++
	return c.Reader.List(ctx, list, opts...)
}

func TestTheEndOfAPodOfAJobThatIsBeingDeletedNeedsNoList(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(2))
	w.delete(w.truth(), client.PropagationPolicy(metav1.DeletePropagationForeground))
	w.turn(t, watched...)
	cache := &countedCache{Reader: w.reconciler.cache}
	w.reconciler.cache = cache
	w.server.Remove(w.pod("job-w-0"))
	w.turn(t, watched...)
	if cache.lists != 0 {
		t.Errorf("%d lists; with one for each of its pods, the deletion of a large job takes quadratic time", cache.lists)
	}
	if pods := w.podNames(); len(pods) != 1 {
		t.Errorf("pods %v; a job that is being deleted makes no new ones", pods)
	}
}

func TestAnAnsweredEvictionIsForgotten(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(2, batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.PodEvictedEvent, Action: busv1alpha1.RestartTaskAction}))
	w.server.Remove(w.pod("job-w-1")) // deleted immediately, by force
	for range 6 {
		w.turn(t, watched...)
		for _, name := range w.podNames() {
			if pod := w.pod(name); pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodPending {
				w.kubelet(name, 0)
			}
		}
	}
	if s := w.truth().Status; s.RetryCount != 1 || s.State.Phase != batchv1alpha1.Running {
		t.Errorf("%d restarts for one eviction, phase %s:\n%s", s.RetryCount, s.State.Phase, strings.Join(w.trace, "\n"))
	}
}

// pressed returns a throttle whose API server responds slowly at the time now.
func pressed(now time.Time) *backpressure.Throttle {
	g := &backpressure.Throttle{}
	for i := range 1000 {
		g.RecordWrite(now.Add(time.Duration(i-999)*time.Millisecond), time.Duration(1+i)*time.Millisecond)
	}
	return g
}

func TestUnderPressurePodsComeBeforeTheStatusOfTheJob(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2))
	w.reconciler.pressure = pressed(w.clock)
	for range 10000 { // other jobs have reserved earlier slots
		w.reconciler.pressure.ReserveSlot(w.clock, time.Hour)
	}
	if phase := w.truth().Status.State.Phase; phase != "" {
		t.Fatalf("phase %q", phase)
	}
	if diff := cmp.Diff([]string{"create PodGroup ns/job-" + string(w.truth().UID)}, w.turn(t, watched...)); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	w.reconciler.pressure = pressed(w.clock)
	if diff := cmp.Diff([]string{"create Pod ns/job-w-0", "create Pod ns/job-w-1"}, w.turn(t, watched...)); diff != "" {
		t.Errorf("second (-want +got):\n%s", diff)
	}
	w.clock = w.clock.Add(time.Second) // without writes for a while there is no pressure
	w.turn(t, watched...)
	if s := w.truth().Status; s.State.Phase != batchv1alpha1.Pending || s.Pending != 2 {
		t.Errorf("phase %q with %d pending pods, want Pending with 2", s.State.Phase, s.Pending)
	}
}
