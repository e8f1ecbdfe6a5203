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
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Options of the controllers.
type Options struct {
	Cache       client.Reader        // what the watches feed
	API         client.Client        // reads past the cache, and all writes
	Recorder    record.EventRecorder // tells pods why they have no PodGroup; nil: nobody is told
	Schedulers  []string             // whose pods are ours
	Reconcilers int                  // objects at once
	// OwnersKeepAnnotations says that a PodGroup gets no annotations of its pod's owners; what they say about its least size and its queue counts.
	OwnersKeepAnnotations bool
}

// Reconciler makes PodGroups.
type Reconciler struct {
	cache      client.Reader
	api        client.Client
	recorder   record.EventRecorder
	schedulers []string
	ownersKeep bool
}

// New makes a Reconciler that is not connected to a manager.
func New(o Options) *Reconciler {
	return &Reconciler{cache: o.Cache, api: o.API, recorder: o.Recorder, schedulers: o.Schedulers, ownersKeep: o.OwnersKeepAnnotations}
}

// wants says whether a pod is ours to give a PodGroup, or has one of ours.
func (r *Reconciler) wants(pod *corev1.Pod) bool {
	if !slices.Contains(r.schedulers, pod.Spec.SchedulerName) {
		return false
	}
	group := keys.PodGroupOf(pod.Annotations)
	return group == "" || group == NameOf(pod)
}

// live says whether a pod runs or will.
func live(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Reconcile gives one pod its PodGroup, and again when that is gone.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := r.cache.Get(ctx, request.NamespacedName, &pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !r.wants(&pod) || !live(&pod) {
		return reconcile.Result{}, nil
	}
	fresh := keys.PodGroupOf(pod.Annotations) == ""
	if err := r.ensureGroup(ctx, &pod, fresh && watched(metav1.GetControllerOfNoCopy(&pod))); err != nil {
		return reconcile.Result{}, err
	}
	if !fresh {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, r.annotate(ctx, &pod)
}

// ensureGroup makes the PodGroup of a pod; with refresh it also brings an existing one up to date.
func (r *Reconciler) ensureGroup(ctx context.Context, pod *corev1.Pod, refresh bool) error {
	var there scheduling.PodGroup
	err := r.cache.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: NameOf(pod)}, &there)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("podgroup %s: %w", NameOf(pod), err)
	}
	if err == nil && !refresh {
		return nil
	}
	inherited, lookErr := r.inherited(ctx, pod)
	if lookErr != nil {
		return lookErr
	}
	wanted := groupFor(pod, inherited)
	if apierrors.IsNotFound(err) {
		return r.create(ctx, pod, wanted)
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

// create makes the group of a pod. An event on the pod says why there is none: without it the pod would wait in silence.
func (r *Reconciler) create(ctx context.Context, pod *corev1.Pod, wanted *scheduling.PodGroup) error {
	err := r.api.Create(ctx, wanted)
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	if r.recorder != nil && ctx.Err() == nil && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		r.recorder.Event(pod, corev1.EventTypeWarning, string(batchv1alpha1.PodGroupError), "the pod waits for its PodGroup, which cannot be created: "+err.Error())
	}
	return fmt.Errorf("podgroup %s: %w", wanted.Name, err)
}

func differ(x, y *scheduling.PodGroup) bool {
	return !equality.Semantic.DeepEqual(x.Spec, y.Spec) || !maps.Equal(x.Annotations, y.Annotations) || !maps.Equal(x.Labels, y.Labels)
}

// inherited are the annotations of the pod's owners that are workloads of Kubernetes.
func (r *Reconciler) inherited(ctx context.Context, pod *corev1.Pod) (map[string]string, error) {
	all := map[string]string{}
	for i := range pod.OwnerReferences {
		ref := &pod.OwnerReferences[i]
		owner, reader := r.reader(ref)
		if owner == nil {
			continue
		}
		err := reader.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}, owner)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("%s %s: %w", ref.Kind, ref.Name, err)
		}
		if err == nil && owner.GetUID() == ref.UID {
			inherit(all, owner.GetAnnotations())
			rollout(owner, pod, all)
		}
	}
	if r.ownersKeep {
		maps.DeleteFunc(all, func(key, _ string) bool { return key != keys.GroupMinMember && key != keys.PodQueueName })
	}
	return all, nil
}

// reader says how an owner is read; nil when it is of a kind whose annotations do not count.
func (r *Reconciler) reader(ref *metav1.OwnerReference) (client.Object, client.Reader) {
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

// watched says whether a controller is of a kind that is watched, so that looking at it costs nothing.
func watched(ref *metav1.OwnerReference) bool {
	return ref != nil && ref.APIVersion == appsv1.SchemeGroupVersion.String() && (ref.Kind == "ReplicaSet" || ref.Kind == "StatefulSet")
}

// annotate names the PodGroup on exactly this pod.
func (r *Reconciler) annotate(ctx context.Context, pod *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]string{keys.GroupName: NameOf(pod)},
	}})
	if err != nil {
		return err
	}
	ref := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	err = r.api.Patch(ctx, ref, client.RawPatch(types.StrategicMergePatchType, patch))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("pod %s: %w", pod.Name, err)
	}
	return nil
}
