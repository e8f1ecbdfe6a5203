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

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

// statusInterval is the least time between two writes of a status that say nothing but other numbers.
const statusInterval = 300 * time.Millisecond

// application is a plan being carried out.
type application struct {
	*Reconciler
	job     *batch.Job // as read, then as last written
	in      *plan.Input
	plan    *plan.Plan
	known   *recollection
	plugins plugin.Set
	// later is when to come back for what was put off; putOff says that this is the status.
	later  time.Duration
	putOff bool
}

// failure is a write that failed, with the reason of the event that tells it.
type failure struct {
	reason string
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{reason: reason, err: err}
}

// write carries out one write. Doing it a second time is harmless.
func (a *application) write(ctx context.Context, w plan.Write) error {
	if _, guarded := w.(plan.WriteStatus); !guarded {
		if err := a.fence(ctx); err != nil {
			return err
		}
	}
	switch w := w.(type) {
	case plan.WriteStatus:
		return fail(string(batch.JobStatusError), a.writeStatus(ctx, w))
	case plan.NumberJob:
		return fail(jobIDError, a.numberJob(ctx, w))
	case plan.NameClaims:
		return fail(string(batch.PVCError), a.nameClaims(ctx, w))
	case plan.ForwardJob:
		return fail(string(batch.JobStatusError), a.forwardJob(ctx))
	case plan.CreateClaim:
		return fail(string(batch.PVCError), ignoreExists(a.api.Create(ctx, w.Claim)))
	case plan.EnsureObjects:
		return fail(string(batch.PluginError), a.ensureObjects(ctx, w))
	case plan.RemoveObjects:
		return fail(string(batch.PluginError), a.removeObjects(ctx))
	case plan.CreateGroup:
		return fail(string(batch.PodGroupError), ignoreExists(a.api.Create(ctx, w.Group)))
	case plan.PatchGroup:
		return fail(string(batch.PodGroupError), a.patchGroup(ctx, w))
	case plan.DeleteGroup:
		return fail(string(batch.PodGroupError), a.deleteGroup(ctx, w.Group))
	case plan.MarkPods:
		return fail(failedDelete, a.writers.each(ctx, len(w.Pods), func(i int) error { return a.markPod(ctx, w.Pods[i]) }))
	case plan.DeletePods:
		return fail(failedDelete, a.writers.each(ctx, len(w.Pods), func(i int) error { return a.deletePod(ctx, w.Pods[i]) }))
	case plan.CreatePods:
		return fail(failedCreate, a.createPods(ctx, w.Places))
	case plan.DeleteCommand:
		return fail(string(batch.CommandIssued), a.delete(ctx, w.Command))
	case plan.DeleteJob:
		return a.deleteJob(ctx)
	}
	return fmt.Errorf("write %T is not known", w)
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// delete deletes exactly this object. One that is gone, or was replaced by another of its name, is fine.
func (a *application) delete(ctx context.Context, o client.Object) error {
	uid := o.GetUID()
	err := a.api.Delete(ctx, o, client.Preconditions{UID: &uid})
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// deleteGroup deletes a PodGroup, and knows from then on that it is gone.
func (a *application) deleteGroup(ctx context.Context, group *scheduling.PodGroup) error {
	if err := a.delete(ctx, group); err != nil {
		return err
	}
	a.known.groupGone = group.UID
	return nil
}

func (a *application) writeStatus(ctx context.Context, w plan.WriteStatus) error {
	now := a.now()
	if wait := a.statusWait(w, now); wait > 0 {
		a.later, a.putOff = wait, true
		return nil
	}
	update := *a.job // all but the status is as it was
	update.Status = w.Status
	if err := a.api.Status().Update(ctx, &update); err != nil {
		return a.orGone("status", err)
	}
	a.job = &update
	a.known.lastStatus = now
	a.known.wrote(update.ResourceVersion, now)
	return nil
}

const (
	// remarkLongest is how long a status that only informs may be held up by what others wait for.
	remarkLongest = 30 * time.Second
	// remarkLook is how often it is looked at whether the pressure has gone.
	remarkLook = 5 * time.Second
)

// statusWait is how long a status has to wait: for others of its kind, and for what is more urgent.
func (a *application) statusWait(w plan.WriteStatus, now time.Time) time.Duration {
	if !w.Lazy && !w.First {
		return 0
	}
	if wait := statusInterval - now.Sub(a.known.lastStatus); w.Lazy && wait > 0 {
		return wait
	}
	if !a.pressure.Pressed(now) {
		a.known.remarkAt = time.Time{}
		return 0
	}
	if a.known.remarkAt.IsZero() {
		a.known.remarkAt = now.Add(a.pressure.Reserve(now, remarkLongest))
	}
	if wait := a.known.remarkAt.Sub(now); wait > 0 {
		return min(wait, remarkLook)
	}
	a.known.remarkAt = time.Time{}
	return 0
}

func (a *application) nameClaims(ctx context.Context, w plan.NameClaims) error {
	update := a.job.DeepCopy()
	update.Spec.Volumes = w.Volumes
	return a.patchJob(ctx, update, "volumes")
}

func (a *application) forwardJob(ctx context.Context) error {
	update := a.job.DeepCopy()
	if update.Annotations == nil {
		update.Annotations = map[string]string{}
	}
	update.Annotations[keys.JobForwarding] = "true"
	return a.patchJob(ctx, update, "forwarding")
}

// patchJob writes what differs, if the job is still the one that was read.
func (a *application) patchJob(ctx context.Context, update *batch.Job, what string) error {
	patch := client.MergeFromWithOptions(a.job, client.MergeFromWithOptimisticLock{})
	if err := a.api.Patch(ctx, update, patch); err != nil {
		return a.orGone(what, err)
	}
	a.job = update
	a.known.wrote(update.ResourceVersion, a.now())
	return nil
}

// errGone says that only the cache still shows the job.
var errGone = errors.New("the job has been deleted")

// orGone is the error of a write of the job. That the job is gone is no fault: the cache will show it, and then what is left of it is cleared away.
func (a *application) orGone(what string, err error) error {
	if apierrors.IsNotFound(err) {
		return soon{errGone}
	}
	return fmt.Errorf("%s of job %s: %w", what, a.job.Name, err)
}

// patchGroup changes the spec only: the status is the scheduler's.
func (a *application) patchGroup(ctx context.Context, w plan.PatchGroup) error {
	update := w.Group.DeepCopy()
	update.Spec = w.Spec
	return client.IgnoreNotFound(a.api.Patch(ctx, update, client.MergeFrom(w.Group)))
}

// podRef is enough of a pod to write to it: cached pods are cut down and shared.
func podRef(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}}
}

// markPod annotates exactly this pod: with another UID in it the patch is a conflict.
func (a *application) markPod(ctx context.Context, pod *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]string{keys.OutOfSync: "true"},
	}})
	if err != nil {
		return err
	}
	err = a.api.Patch(ctx, podRef(pod), client.RawPatch(types.MergePatchType, patch))
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	if pod.DeletionTimestamp != nil {
		a.known.podKilled(pod.UID, a.now())
	}
	return nil
}

func (a *application) deletePod(ctx context.Context, pod *corev1.Pod) error {
	if err := a.delete(ctx, podRef(pod)); err != nil {
		return err
	}
	a.known.podKilled(pod.UID, a.now())
	return nil
}

// createPods makes pods. Where the last try failed one goes ahead, so that a job that is refused, by a quota say, is refused one pod and not as many as there are writers.
func (a *application) createPods(ctx context.Context, places []plan.Place) error {
	if a.in.Trouble != nil && len(places) > 1 {
		if err := a.createPod(ctx, places[0]); err != nil {
			return err
		}
		places = places[1:]
	}
	return a.writers.each(ctx, len(places), func(i int) error { return a.createPod(ctx, places[i]) })
}

func (a *application) createPod(ctx context.Context, place plan.Place) error {
	pod := plan.Pod(a.plan.Job, a.plugins, place, plan.Forwarded(a.in.Queue))
	if group := a.in.PodGroup; group != nil {
		pod.Annotations[keys.GroupName] = group.Name // it may have the name that older versions gave
	}
	a.plan.Array.Mark(pod, a.plan.Job, place)
	err := a.api.Create(ctx, pod)
	if apierrors.IsAlreadyExists(err) {
		return a.adopt(ctx, pod)
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pod %s: %w", pod.Name, err)
	}
	a.known.podCreated(pod, a.now())
	creationLatency.Observe(float64(a.now().Sub(a.job.CreationTimestamp.Time).Milliseconds()))
	return nil
}

// adopt finds out whose the pod is that holds the name. Ours: the cache is only late.
func (a *application) adopt(ctx context.Context, wanted *corev1.Pod) error {
	var there corev1.Pod
	err := a.api.Get(ctx, client.ObjectKeyFromObject(wanted), &there)
	switch {
	case apierrors.IsNotFound(err):
		return soon{fmt.Errorf("pod %s: its name was taken a moment ago", wanted.Name)}
	case err != nil:
		return fmt.Errorf("pod %s: %w", wanted.Name, err)
	case metav1.IsControlledBy(&there, a.job):
		a.known.podCreated(&there, a.now())
		return nil
	case there.DeletionTimestamp != nil:
		return soon{fmt.Errorf("pod %s: an older pod of this name is still going away", wanted.Name)}
	case a.leftBehind(&there):
		if err := a.delete(ctx, &there); err != nil {
			return err
		}
		return soon{fmt.Errorf("pod %s: that of an older job of this name is being removed", wanted.Name)}
	}
	return fmt.Errorf("pod %s: the name belongs to a pod that is not this job's; delete that pod or rename the job", wanted.Name)
}

// soon is an error that passes by itself in a moment.
type soon struct{ error }

// leftBehind says whether an object belongs to an older job of the same name, which cannot exist any more: the garbage collector has only not
// got round to it.
func (a *application) leftBehind(o client.Object) bool {
	uid, request, ok := owner(o)
	return ok && uid != a.job.UID && request.Name == a.job.Name && request.Namespace == a.job.Namespace
}

func (a *application) deleteJob(ctx context.Context) error {
	foreground := metav1.DeletePropagationForeground
	uid, version := a.job.UID, a.job.ResourceVersion
	err := a.api.Delete(ctx, a.job, &client.DeleteOptions{
		PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
	return client.IgnoreNotFound(err)
}
