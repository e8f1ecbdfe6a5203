package podgroup

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// Controllers returns the controllers of plain pods, ReplicaSets and StatefulSets.
func Controllers(o Options) []registration.Controller { return New(o).controllers(o.Reconcilers) }

// controllers describes the controllers of this reconciler.
func (r *Reconciler) controllers(reconcilers int) []registration.Controller {
	options, observed := backoff.ControllerOptions(reconcilers, r)
	return []registration.Controller{
		{
			Name:       "pg-controller",
			Kind:       &corev1.Pod{},
			Predicates: []predicate.Predicate{r.ungroupedPodEvents()},
			Watches: []registration.Watch{
				{Kind: &schedulingv1beta1.PodGroup{}, Handler: handler.EnqueueRequestsFromMapFunc(r.requestsForPods), Predicates: []predicate.Predicate{onlyDeletions()}},
			},
			Reconciler: observed,
			Options:    options,
		},
		workloadController(reconcilers, r.replicaSetWorkload(), "pg-replicaset-controller", "ReplicaSet"),
		workloadController(reconcilers, r.statefulSetWorkload(), "pg-statefulset-controller", "StatefulSet"),
	}
}

func workloadController[T client.Object](reconcilers int, w workload[T], name, kind string) registration.Controller {
	options, observed := backoff.ControllerOptions(reconcilers, w)
	return registration.Controller{
		Name:       name,
		Kind:       w.empty(),
		Predicates: []predicate.Predicate{ignoreDeletions()},
		Watches: []registration.Watch{
			{Kind: &schedulingv1beta1.PodGroup{}, Handler: handler.EnqueueRequestsFromMapFunc(requestForWorkload(kind)), Predicates: []predicate.Predicate{workloadGroupEvents(kind)}},
		},
		Reconciler: observed,
		Options:    options,
	}
}

// ungroupedPodEvents accepts pods without a PodGroup, and pods with a PodGroup created by this controller, because such
// a PodGroup may have been deleted while the controller was not running.
func (r *Reconciler) ungroupedPodEvents() predicate.Predicate {
	wanted := predicate.NewPredicateFuncs(func(o client.Object) bool {
		pod, ok := o.(*corev1.Pod)
		return ok && r.isResponsibleFor(pod)
	})
	wanted.DeleteFunc = func(event.DeleteEvent) bool { return false }
	return wanted
}

func ignoreDeletions() predicate.Predicate {
	return predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }}
}

func onlyDeletions() predicate.Predicate {
	none := func(client.Object) bool { return false }
	only := predicate.NewPredicateFuncs(none)
	only.DeleteFunc = func(event.DeleteEvent) bool { return true }
	return only
}

// workloadGroupEvents accepts the PodGroups that a workload may have to correct, because these PodGroups should not
// exist or because they differ from the workload. It ignores all other PodGroups, such as PodGroups of jobs.
func workloadGroupEvents(kind string) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return workloadName(e.Object, kind) != "" },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isGroup := e.ObjectOld.(*schedulingv1beta1.PodGroup)
			now, stillGroup := e.ObjectNew.(*schedulingv1beta1.PodGroup)
			if !isGroup || !stillGroup {
				return false
			}
			return workloadName(now, kind) != "" && differ(before, now)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// requestsForPods maps a PodGroup created by this controller to its pods, which may need a new PodGroup after the old
// one was deleted.
func (r *Reconciler) requestsForPods(ctx context.Context, o client.Object) []reconcile.Request {
	uid, ours := strings.CutPrefix(o.GetName(), keys.PodGroupNamePrefix)
	if !ours {
		return nil
	}
	var requests []reconcile.Request
	for _, ref := range o.GetOwnerReferences() {
		if ref.APIVersion == corev1.SchemeGroupVersion.String() && ref.Kind == "Pod" && string(ref.UID) == uid {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: ref.Name}})
		}
	}
	var pods corev1.PodList
	if err := r.cache.List(ctx, &pods, client.InNamespace(o.GetNamespace()), client.MatchingFields{index.PodController: uid}); err != nil {
		return requests // the list fails only if the cache was never filled
	}
	for i := range pods.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pods.Items[i])})
	}
	return requests
}

// requestForWorkload maps a PodGroup to the workload for which it was created, if it is of the given kind. The workload
// may have been scaled to zero since.
func requestForWorkload(kind string) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		name := workloadName(o, kind)
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
	}
}

// workloadName returns the name of the workload of the given kind that controls a PodGroup, or "" if none exists.
func workloadName(group client.Object, kind string) string {
	owner := metav1.GetControllerOfNoCopy(group)
	if owner == nil || owner.Kind != kind || owner.APIVersion != appsv1.SchemeGroupVersion.String() {
		return ""
	}
	return owner.Name
}
