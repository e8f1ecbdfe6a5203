package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/apiclient"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

// statusInterval is the minimum time between two status writes that change only counters.
const statusInterval = 300 * time.Millisecond

// application carries out one plan.
type application struct {
	*Reconciler
	job     *batchv1alpha1.Job // the job as it was read, then as it was last written
	in      *plan.Input
	plan    *plan.Plan
	known   *jobState
	plugins plugin.Set
	// later is the delay before the next reconcile, which performs the postponed writes. putOff is true if the status
	// write was postponed.
	later  time.Duration
	putOff bool
}

// failure is an error from a write, together with the reason for the event that reports it.
type failure struct {
	reason string
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func wrapFailure(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{reason: reason, err: err}
}

// performWrite carries out one write. All writes are idempotent.
func (a *application) performWrite(ctx context.Context, w plan.Write) error {
	if _, guarded := w.(plan.WriteStatus); !guarded {
		if err := a.verifyCurrent(ctx); err != nil {
			return err
		}
	}
	switch w := w.(type) {
	case plan.WriteStatus:
		return wrapFailure(string(batchv1alpha1.JobStatusError), a.writeStatus(ctx, w))
	case plan.NumberJob:
		return wrapFailure(jobIDError, a.assignJobNumber(ctx, w))
	case plan.NameClaims:
		return wrapFailure(string(batchv1alpha1.PVCError), a.writeClaimNames(ctx, w))
	case plan.ForwardJob:
		return wrapFailure(string(batchv1alpha1.JobStatusError), a.setForwarding(ctx))
	case plan.CreateClaim:
		return wrapFailure(string(batchv1alpha1.PVCError), ignoreExists(a.createObject(ctx, w.Claim)))
	case plan.EnsureObjects:
		return wrapFailure(string(batchv1alpha1.PluginError), a.ensureObjects(ctx, w))
	case plan.RemoveObjects:
		return wrapFailure(string(batchv1alpha1.PluginError), a.removeObjects(ctx))
	case plan.CreateGroup:
		return wrapFailure(string(batchv1alpha1.PodGroupError), a.createGroup(ctx, w.Group))
	case plan.PatchGroup:
		return wrapFailure(string(batchv1alpha1.PodGroupError), a.patchGroup(ctx, w))
	case plan.DeleteGroup:
		return wrapFailure(string(batchv1alpha1.PodGroupError), a.deleteGroup(ctx, w.Group))
	case plan.MarkPods:
		return wrapFailure(failedDelete, a.writers.runParallel(ctx, len(w.Pods), func(i int) error { return a.markPod(ctx, w.Pods[i]) }))
	case plan.DeletePods:
		return wrapFailure(failedDelete, a.writers.runParallel(ctx, len(w.Pods), func(i int) error { return a.deletePod(ctx, w.Pods[i]) }))
	case plan.CreatePods:
		return wrapFailure(failedCreate, a.createPods(ctx, w.Places))
	case plan.DeleteCommand:
		return wrapFailure(string(batchv1alpha1.CommandIssued), a.deleteObject(ctx, w.Command))
	case plan.DeleteJob:
		return a.deleteJob(ctx)
	}
	return fmt.Errorf("unknown type of write: %T", w)
}

// createObject creates an object of the job. After the API server has reported that the job's namespace is being deleted,
// it sends no more requests and returns the same error, because a namespace never leaves this state and each pod that is
// deleted with the namespace would cause new attempts to create all missing pods.
func (a *application) createObject(ctx context.Context, o client.Object) error {
	if err := a.known.namespaceTerminating(); err != nil {
		return err
	}
	err := a.api.Create(ctx, o)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		a.known.recordTerminatingNamespace(err)
	}
	return err
}

// createGroup creates the PodGroup. A running job without a PodGroup may have been deleted: the garbage collector may delete the
// PodGroup before the watch reports that the job is gone. Therefore, it first checks that a running job still exists.
func (a *application) createGroup(ctx context.Context, group *schedulingv1beta1.PodGroup) error {
	if a.in.Job.Status.State.Phase == batchv1alpha1.Running {
		if err := a.verifyExists(ctx); err != nil {
			return err
		}
	}
	return ignoreExists(a.createObject(ctx, group))
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// deleteObject deletes this object, identified by its UID. It succeeds if the object no longer exists or was replaced
// by another object with the same name.
func (a *application) deleteObject(ctx context.Context, o client.Object) error {
	uid := o.GetUID()
	err := a.api.Delete(ctx, o, client.Preconditions{UID: &uid})
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// deleteGroup deletes a PodGroup and records that it was deleted.
func (a *application) deleteGroup(ctx context.Context, group *schedulingv1beta1.PodGroup) error {
	if err := a.deleteObject(ctx, group); err != nil {
		return err
	}
	a.known.groupGone = group.UID
	return nil
}

func (a *application) writeStatus(ctx context.Context, w plan.WriteStatus) error {
	now := a.now()
	if wait := a.statusDelay(w, now); wait > 0 {
		a.later, a.putOff = wait, true
		return nil
	}
	update := *a.job // only the status is changed
	update.Status = w.Status
	if err := a.api.Status().Update(ctx, &update); err != nil {
		return a.ignoreIfDeleted("status", err)
	}
	a.job = &update
	a.known.lastStatus = now
	a.known.recordWrite(update.ResourceVersion, now)
	a.traceJob()
	return nil
}

const (
	// maxPostponement is the maximum delay of a purely informational status write while more urgent writes are pending.
	maxPostponement = 30 * time.Second
	// pressureCheckInterval is the interval at which the back-pressure is checked again.
	pressureCheckInterval = 5 * time.Second
)

// statusDelay returns how long to postpone a status write, because of the minimum interval or in favor of more urgent
// writes.
func (a *application) statusDelay(w plan.WriteStatus, now time.Time) time.Duration {
	if !w.Lazy && !w.First {
		return 0
	}
	if wait := statusInterval - now.Sub(a.known.lastStatus); w.Lazy && wait > 0 {
		return wait
	}
	if !a.pressure.IsUnderPressure(now) {
		a.known.postponedUntil = time.Time{}
		return 0
	}
	if a.known.postponedUntil.IsZero() {
		a.known.postponedUntil = now.Add(a.pressure.ReserveSlot(now, maxPostponement))
	}
	if wait := a.known.postponedUntil.Sub(now); wait > 0 {
		return min(wait, pressureCheckInterval)
	}
	a.known.postponedUntil = time.Time{}
	return 0
}

func (a *application) writeClaimNames(ctx context.Context, w plan.NameClaims) error {
	update := a.job.DeepCopy()
	update.Spec.Volumes = w.Volumes
	return a.patchJob(ctx, update, "volumes")
}

func (a *application) setForwarding(ctx context.Context) error {
	update := a.job.DeepCopy()
	if update.Annotations == nil {
		update.Annotations = map[string]string{}
	}
	update.Annotations[keys.JobForwarding] = "true"
	return a.patchJob(ctx, update, "forwarding")
}

// patchJob writes the changed fields, provided that the job has not changed since it was read.
func (a *application) patchJob(ctx context.Context, update *batchv1alpha1.Job, what string) error {
	patch := client.MergeFromWithOptions(a.job, client.MergeFromWithOptimisticLock{})
	if err := a.api.Patch(ctx, update, patch); err != nil {
		return a.ignoreIfDeleted(what, err)
	}
	a.job = update
	a.known.recordWrite(update.ResourceVersion, a.now())
	return nil
}

// errGone means that the job was deleted although the cache still contains it.
var errGone = errors.New("the job has been deleted")

// ignoreIfDeleted wraps an error from a write to the job. The deletion of the job is not reported as an error, because
// the remaining objects are removed once the cache shows the deletion.
func (a *application) ignoreIfDeleted(what string, err error) error {
	if apierrors.IsNotFound(err) {
		return passingError{errGone}
	}
	return fmt.Errorf("%s of job %s: %w", what, a.job.Name, err)
}

// patchGroup patches only the spec, because the status belongs to the scheduler.
func (a *application) patchGroup(ctx context.Context, w plan.PatchGroup) error {
	update := w.Group.DeepCopy()
	update.Spec = w.Spec
	return client.IgnoreNotFound(a.api.Patch(ctx, update, client.MergeFrom(w.Group)))
}

// podReference returns a pod with only the fields that a write needs, because cached pods are incomplete and shared.
func podReference(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}}
}

// markPod annotates this pod, identified by its UID. If another pod has its name, the API server rejects the patch.
func (a *application) markPod(ctx context.Context, pod *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]string{keys.OutOfSync: "true"},
	}})
	if err != nil {
		return err
	}
	err = a.api.Patch(ctx, podReference(pod), client.RawPatch(types.MergePatchType, patch))
	isPodGone := apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apiclient.IsOtherObject(err)
	if err != nil && !isPodGone {
		return err
	}
	if pod.DeletionTimestamp != nil {
		a.known.recordKilledPod(pod.UID, a.now())
	}
	return nil
}

func (a *application) deletePod(ctx context.Context, pod *corev1.Pod) error {
	if err := a.deleteObject(ctx, podReference(pod)); err != nil {
		return err
	}
	a.known.recordKilledPod(pod.UID, a.now())
	return nil
}

// createPods creates pods. After a failed attempt, it creates one pod before the others. If the API server rejects the
// job's pods, for example because of a quota, this causes one rejected request instead of one per writer.
func (a *application) createPods(ctx context.Context, places []plan.Place) error {
	if a.in.Trouble != nil && len(places) > 1 {
		if err := a.createPod(ctx, places[0]); err != nil {
			return err
		}
		places = places[1:]
	}
	return a.writers.runParallel(ctx, len(places), func(i int) error { return a.createPod(ctx, places[i]) })
}

func (a *application) createPod(ctx context.Context, place plan.Place) error {
	pod := plan.NewPodForPlace(a.plan.Job, a.plugins, place, plan.MayRunElsewhere(a.in.Queue))
	if group := a.in.PodGroup; group != nil {
		pod.Annotations[keys.GroupName] = group.Name // the PodGroup may have the name that older versions gave it
	}
	a.plan.Array.LabelElementPod(pod, a.plan.Job, place)
	a.known.beginCreation()
	defer a.known.endCreation()
	err := a.createObject(ctx, pod)
	if apierrors.IsAlreadyExists(err) {
		return a.adoptExistingPod(ctx, pod)
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pod %s: %w", pod.Name, err)
	}
	a.known.recordCreatedPod(pod, a.now())
	creationLatency.Observe(float64(a.now().Sub(a.job.CreationTimestamp.Time).Milliseconds()))
	return nil
}

// adoptExistingPod handles a pod with the wanted name that already exists. If the pod belongs to this job, this is not
// an error, because it only means that the cache is outdated.
func (a *application) adoptExistingPod(ctx context.Context, wanted *corev1.Pod) error {
	var there corev1.Pod
	err := a.api.Get(ctx, client.ObjectKeyFromObject(wanted), &there)
	switch {
	case apierrors.IsNotFound(err):
		return passingError{fmt.Errorf("pod %s: the name is already in use", wanted.Name)}
	case err != nil:
		return fmt.Errorf("pod %s: %w", wanted.Name, err)
	case metav1.IsControlledBy(&there, a.job):
		a.known.recordCreatedPod(&there, a.now())
		return nil
	case there.DeletionTimestamp != nil:
		return passingError{fmt.Errorf("pod %s: an older pod with this name is still terminating", wanted.Name)}
	case a.isLeftBehind(&there):
		if err := a.deleteObject(ctx, &there); err != nil {
			return err
		}
		return passingError{fmt.Errorf("pod %s: the pod of an older job with this name is being deleted", wanted.Name)}
	}
	return fmt.Errorf("pod %s: a pod that does not belong to this job already has this name; delete that pod or rename the job", wanted.Name)
}

// passingError is an error whose cause is expected to disappear soon.
type passingError struct{ error }

// isLeftBehind reports whether an object belongs to an older, deleted job with the same name and has not been deleted
// by the garbage collector yet.
func (a *application) isLeftBehind(o client.Object) bool {
	uid, request, ok := ownerJobRequest(o)
	isNamesake := request.Name == a.job.Name && request.Namespace == a.job.Namespace
	return ok && isNamesake && uid != a.job.UID
}

func (a *application) deleteJob(ctx context.Context) error {
	foreground := metav1.DeletePropagationForeground
	uid, version := a.job.UID, a.job.ResourceVersion
	err := a.api.Delete(ctx, a.job, &client.DeleteOptions{
		PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
	return client.IgnoreNotFound(err)
}
