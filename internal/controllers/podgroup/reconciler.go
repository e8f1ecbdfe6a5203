package podgroup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/apiclient"
)

// Options configures the controllers.
type Options struct {
	Cache       client.Reader        // is kept up to date by watches
	API         client.Client        // does not use the cache; does all writes
	Recorder    record.EventRecorder // records on pods why they have no PodGroup; may be nil
	Schedulers  []string             // names of the schedulers whose pods are handled
	Reconcilers int                  // number of objects reconciled in parallel
	// OwnersKeepAnnotations prevents PodGroups from inheriting the annotations of their pods' owners, except for the
	// minimum size and the queue.
	OwnersKeepAnnotations bool
}

// Reconciler creates PodGroups.
type Reconciler struct {
	cache      client.Reader
	api        client.Client
	recorder   record.EventRecorder
	schedulers []string
	ownersKeep bool
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler {
	return &Reconciler{cache: o.Cache, api: o.API, recorder: o.Recorder, schedulers: o.Schedulers, ownersKeep: o.OwnersKeepAnnotations}
}

// isResponsibleFor reports whether this controller is responsible for the PodGroup of a pod.
func (r *Reconciler) isResponsibleFor(pod *corev1.Pod) bool {
	if !slices.Contains(r.schedulers, pod.Spec.SchedulerName) {
		return false
	}
	group := keys.PodGroupOf(pod.Annotations)
	return group == "" || group == nameOf(pod)
}

// isLivePod reports whether a pod is running or will run.
func isLivePod(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Reconcile creates the PodGroup of a pod, and re-creates it after it was deleted.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := r.cache.Get(ctx, request.NamespacedName, &pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !r.isResponsibleFor(&pod) || !isLivePod(&pod) {
		return reconcile.Result{}, nil
	}
	fresh := keys.PodGroupOf(pod.Annotations) == ""
	if err := r.ensureGroup(ctx, &pod, fresh && isWatchedKind(metav1.GetControllerOfNoCopy(&pod))); err != nil {
		return reconcile.Result{}, err
	}
	if !fresh {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, r.annotatePod(ctx, &pod)
}

// ensureGroup creates the PodGroup of a pod. If refresh is true, it also updates an existing PodGroup.
func (r *Reconciler) ensureGroup(ctx context.Context, pod *corev1.Pod, refresh bool) error {
	var there schedulingv1beta1.PodGroup
	err := r.cache.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: nameOf(pod)}, &there)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("podgroup %s: %w", nameOf(pod), err)
	}
	if err == nil && !refresh {
		return nil
	}
	inherited, lookErr := r.inheritedAnnotations(ctx, pod)
	if lookErr != nil {
		return lookErr
	}
	wanted := groupFor(pod, inherited)
	if apierrors.IsNotFound(err) {
		return r.createGroup(ctx, pod, wanted)
	}
	update, changed := refreshed(&there, wanted)
	if !changed {
		return nil
	}
	if err := r.api.Patch(ctx, update, client.MergeFrom(&there)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("podgroup %s: %w", wanted.Name, err)
	}
	return nil
}

// createGroup creates the PodGroup of a pod. If this fails, it records an event on the pod, which would otherwise wait
// without an explanation.
func (r *Reconciler) createGroup(ctx context.Context, pod *corev1.Pod, wanted *schedulingv1beta1.PodGroup) error {
	err := r.api.Create(ctx, wanted)
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	if r.recorder != nil && ctx.Err() == nil && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		r.recorder.Event(pod, corev1.EventTypeWarning, string(batchv1alpha1.PodGroupError), "the pod is waiting for its PodGroup, which cannot be created: "+err.Error())
	}
	return fmt.Errorf("podgroup %s: %w", wanted.Name, err)
}

// inheritedAnnotations returns the annotations of those owners of the pod that are Kubernetes workloads.
func (r *Reconciler) inheritedAnnotations(ctx context.Context, pod *corev1.Pod) (map[string]string, error) {
	all := map[string]string{}
	for i := range pod.OwnerReferences {
		ref := &pod.OwnerReferences[i]
		owner, reader := r.readerForOwner(ref)
		if owner == nil {
			continue
		}
		err := reader.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}, owner)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("%s %s: %w", ref.Kind, ref.Name, err)
		}
		if err == nil && owner.GetUID() == ref.UID {
			inherit(all, owner.GetAnnotations())
			limitDuringRollout(owner, pod, all)
		}
	}
	if r.ownersKeep {
		maps.DeleteFunc(all, func(key, _ string) bool { return key != keys.GroupMinMember && key != keys.PodQueueName })
	}
	return all, nil
}

// readerForOwner returns an empty object of an owner's kind and a reader for it. It returns nil for kinds whose
// annotations are not inherited.
func (r *Reconciler) readerForOwner(ref *metav1.OwnerReference) (client.Object, client.Reader) {
	switch ref.APIVersion + " " + ref.Kind {
	case appsv1.SchemeGroupVersion.String() + " ReplicaSet":
		return &appsv1.ReplicaSet{}, r.cache
	case appsv1.SchemeGroupVersion.String() + " StatefulSet":
		return &appsv1.StatefulSet{}, r.cache
	case appsv1.SchemeGroupVersion.String() + " DaemonSet":
		return &appsv1.DaemonSet{}, r.api
	case batchv1.SchemeGroupVersion.String() + " Job":
		return &batchv1.Job{}, r.api
	}
	return nil, nil
}

// isWatchedKind reports whether a pod's controller is of a watched kind, so that reading it requires no request.
func isWatchedKind(ref *metav1.OwnerReference) bool {
	if ref == nil || ref.APIVersion != appsv1.SchemeGroupVersion.String() {
		return false
	}
	return ref.Kind == "ReplicaSet" || ref.Kind == "StatefulSet"
}

// annotatePod writes the name of the PodGroup to this pod, identified by its UID.
func (r *Reconciler) annotatePod(ctx context.Context, pod *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]string{keys.GroupName: nameOf(pod)},
	}})
	if err != nil {
		return err
	}
	ref := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	err = r.api.Patch(ctx, ref, client.RawPatch(types.StrategicMergePatchType, patch))
	isPodGone := apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apiclient.IsOtherObject(err)
	if err != nil && !isPodGone {
		return fmt.Errorf("pod %s: %w", pod.Name, err)
	}
	return nil
}
