package podgroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
)

// lookAgain is how often to check a workload that was scaled to zero but still has pods.
const lookAgain = time.Second

// workload reconciles a kind of workload whose pods share a PodGroup.
type workload[T client.Object] struct {
	*Reconciler
	empty    func() T
	replicas func(T) *int32
}

func (r *Reconciler) replicaSetWorkload() workload[*appsv1.ReplicaSet] {
	return workload[*appsv1.ReplicaSet]{r, func() *appsv1.ReplicaSet { return &appsv1.ReplicaSet{} },
		func(s *appsv1.ReplicaSet) *int32 { return s.Spec.Replicas }}
}

func (r *Reconciler) statefulSetWorkload() workload[*appsv1.StatefulSet] {
	return workload[*appsv1.StatefulSet]{r, func() *appsv1.StatefulSet { return &appsv1.StatefulSet{} },
		func(s *appsv1.StatefulSet) *int32 { return s.Spec.Replicas }}
}

// Reconcile deletes the PodGroup of a workload that was scaled to zero, and updates the PodGroup of any other
// workload.
func (w workload[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := w.empty()
	if err := w.cache.Get(ctx, request.NamespacedName, set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	pods, err := w.newestLivePods(ctx, set)
	if err != nil {
		return reconcile.Result{}, err
	}
	if n := w.replicas(set); n != nil && *n == 0 {
		return w.deleteGroup(ctx, set, len(pods) > 0)
	}
	for i := range pods {
		if w.isResponsibleFor(&pods[i]) {
			return reconcile.Result{}, w.ensureGroup(ctx, &pods[i], true)
		}
	}
	return reconcile.Result{}, nil
}

// newestLivePods returns the pods of a workload that are running or will run. The newest pod comes first, because it
// determines the PodGroup.
func (w workload[T]) newestLivePods(ctx context.Context, set T) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := w.cache.List(ctx, &pods, client.InNamespace(set.GetNamespace()), client.MatchingFields{index.PodController: string(set.GetUID())}); err != nil {
		return nil, fmt.Errorf("pods of %s: %w", set.GetName(), err)
	}
	found := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !isLivePod(&pod) })
	slices.SortFunc(found, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// deleteGroup deletes the PodGroup of a workload that was scaled to zero, if it exists, as soon as it is no longer in
// use.
func (w workload[T]) deleteGroup(ctx context.Context, set T, inUse bool) (reconcile.Result, error) {
	var group schedulingv1beta1.PodGroup
	err := w.cache.Get(ctx, types.NamespacedName{Namespace: set.GetNamespace(), Name: nameFor(set.GetUID())}, &group)
	if err != nil || group.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if inUse {
		return reconcile.Result{RequeueAfter: lookAgain}, nil
	}
	// The precondition protects a PodGroup that replaced this one.
	err = w.api.Delete(ctx, &group, client.Preconditions{UID: &group.UID})
	if apierrors.IsConflict(err) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}
