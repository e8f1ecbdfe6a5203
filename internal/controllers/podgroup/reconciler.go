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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
)

// Options of the controllers.
type Options struct {
	Cache       client.Reader // what the watches feed
	API         client.Client // reads past the cache, and all writes
	Schedulers  []string      // whose pods are ours
	Reconcilers int           // objects at once
}

// Reconciler makes PodGroups.
type Reconciler struct {
	cache      client.Reader
	api        client.Client
	schedulers []string
}

// New makes a Reconciler that is not connected to a manager.
func New(o Options) *Reconciler {
	return &Reconciler{cache: o.Cache, api: o.API, schedulers: o.Schedulers}
}

// Add registers the controllers of plain pods, ReplicaSets and StatefulSets.
func Add(mgr manager.Manager, o Options) error {
	r := New(o)
	options := controller.Options{MaxConcurrentReconciles: o.Reconcilers}
	ours := predicate.NewPredicateFuncs(func(o client.Object) bool { return r.ungrouped(o.(*corev1.Pod)) })
	notDeleted := predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }}
	if err := ctrl.NewControllerManagedBy(mgr).Named("pg-controller").WithOptions(options).
		For(&corev1.Pod{}, builder.WithPredicates(ours, notDeleted)).Complete(r); err != nil {
		return fmt.Errorf("podgroup controller: %w", err)
	}
	replicaSets := workload[*appsv1.ReplicaSet]{r, func() *appsv1.ReplicaSet { return &appsv1.ReplicaSet{} },
		func(s *appsv1.ReplicaSet) *int32 { return s.Spec.Replicas }}
	if err := ctrl.NewControllerManagedBy(mgr).Named("pg-replicaset-controller").WithOptions(options).
		For(&appsv1.ReplicaSet{}, builder.WithPredicates(notDeleted)).Complete(replicaSets); err != nil {
		return fmt.Errorf("podgroup controller of replicasets: %w", err)
	}
	statefulSets := workload[*appsv1.StatefulSet]{r, func() *appsv1.StatefulSet { return &appsv1.StatefulSet{} },
		func(s *appsv1.StatefulSet) *int32 { return s.Spec.Replicas }}
	if err := ctrl.NewControllerManagedBy(mgr).Named("pg-statefulset-controller").WithOptions(options).
		For(&appsv1.StatefulSet{}, builder.WithPredicates(notDeleted)).Complete(statefulSets); err != nil {
		return fmt.Errorf("podgroup controller of statefulsets: %w", err)
	}
	return nil
}

// ungrouped says whether a pod is ours and has no PodGroup yet.
func (r *Reconciler) ungrouped(pod *corev1.Pod) bool {
	return slices.Contains(r.schedulers, pod.Spec.SchedulerName) && pod.Annotations[keys.GroupName] == ""
}

// Reconcile gives one pod its PodGroup.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := r.cache.Get(ctx, request.NamespacedName, &pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !r.ungrouped(&pod) || pod.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	if err := r.ensureGroup(ctx, &pod, false); err != nil {
		return reconcile.Result{}, err
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
		if err := r.api.Create(ctx, wanted); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("podgroup %s: %w", wanted.Name, err)
		}
		return nil
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

func differ(x, y *scheduling.PodGroup) bool {
	return !equality.Semantic.DeepEqual(x.Spec, y.Spec) || !maps.Equal(x.Annotations, y.Annotations) || !maps.Equal(x.Labels, y.Labels)
}

// inherited are the annotations of the pod's owners that are workloads of Kubernetes.
func (r *Reconciler) inherited(ctx context.Context, pod *corev1.Pod) (map[string]string, error) {
	all := map[string]string{}
	for i := range pod.OwnerReferences {
		ref := &pod.OwnerReferences[i]
		var owner client.Object
		reader := client.Reader(r.api)
		switch ref.Kind {
		case "ReplicaSet":
			owner, reader = &appsv1.ReplicaSet{}, r.cache
		case "StatefulSet":
			owner, reader = &appsv1.StatefulSet{}, r.cache
		case "DaemonSet":
			owner = &appsv1.DaemonSet{}
		case "Job":
			if ref.APIVersion != batchv1.SchemeGroupVersion.String() {
				continue
			}
			owner = &batchv1.Job{}
		default:
			continue
		}
		err := reader.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}, owner)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("%s %s: %w", ref.Kind, ref.Name, err)
		}
		if err == nil && owner.GetUID() == ref.UID {
			inherit(all, owner.GetAnnotations())
		}
	}
	return all, nil
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

// workload follows a kind of workload whose pods share a PodGroup.
type workload[T client.Object] struct {
	*Reconciler
	empty    func() T
	replicas func(T) *int32
}

// Reconcile deletes the PodGroup of a workload scaled to nothing, and keeps that of the others up to date.
func (w workload[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := w.empty()
	if err := w.cache.Get(ctx, request.NamespacedName, set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var pods corev1.PodList
	if err := w.cache.List(ctx, &pods, client.InNamespace(set.GetNamespace()), client.MatchingFields{index.PodController: string(set.GetUID())}); err != nil {
		return reconcile.Result{}, fmt.Errorf("pods of %s: %w", request.Name, err)
	}
	if n := w.replicas(set); n != nil && *n == 0 {
		return reconcile.Result{}, w.drop(ctx, set)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		grouped := pod.Annotations[keys.GroupName]
		if pod.DeletionTimestamp == nil && slices.Contains(w.schedulers, pod.Spec.SchedulerName) && (grouped == "" || grouped == NameOf(pod)) {
			return reconcile.Result{}, w.ensureGroup(ctx, pod, true)
		}
	}
	return reconcile.Result{}, nil
}

// drop deletes the PodGroup of a workload scaled to nothing, if there is one.
func (w workload[T]) drop(ctx context.Context, set T) error {
	var group scheduling.PodGroup
	err := w.cache.Get(ctx, types.NamespacedName{Namespace: set.GetNamespace(), Name: nameFor(set.GetUID())}, &group)
	if err != nil || group.DeletionTimestamp != nil {
		return client.IgnoreNotFound(err)
	}
	return client.IgnoreNotFound(w.api.Delete(ctx, &group))
}
