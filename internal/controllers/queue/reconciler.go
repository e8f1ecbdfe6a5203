package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// coalesce is how long to collect further changes in a queue after the first change to a PodGroup. The delay is
// acceptable because the counters are informational, and it is useful because every write to a queue triggers all
// watchers of queues.
const coalesce = 500 * time.Millisecond

// outdatedCacheDelay is the time after which a queue is read again if the cache still contains an earlier queue with the
// same name.
const outdatedCacheDelay = 20 * time.Millisecond

// Options configures the controller.
type Options struct {
	Cache    client.Reader // is kept up to date by watches
	API      client.Client // does not use the cache; does all writes
	Recorder record.EventRecorder
	Now      func() time.Time // returns the current time; nil means time.Now
	// Deleted is called with the name of a queue that does not exist anymore; nil means that nothing is called.
	Deleted func(queue string)
}

// Reconciler maintains the state and the counters of queues.
type Reconciler struct {
	cache    client.Reader
	api      client.Client
	recorder record.EventRecorder
	now      func() time.Time
	deleted  func(queue string)
	counted  map[string]time.Time // when the counters of each queue were last written; accessed by one goroutine only
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler {
	queueMetrics.Register()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Deleted == nil {
		o.Deleted = func(string) {}
	}
	return &Reconciler{cache: o.Cache, api: o.API, recorder: o.Recorder, now: o.Now, deleted: o.Deleted, counted: map[string]time.Time{}}
}

// Controller returns the queue controller.
func Controller(o Options) registration.Controller {
	r := New(o)
	options, observed := backoff.ControllerOptions(1, r)
	return registration.Controller{
		Name: "queue-controller",
		Kind: &schedulingv1beta1.Queue{},
		Watches: []registration.Watch{
			{Kind: &schedulingv1beta1.Queue{}, Handler: handler.EnqueueRequestsFromMapFunc(r.requestsForChildren)},
			{Kind: &schedulingv1beta1.PodGroup{}, Handler: groupHandler()},
			{Kind: &busv1alpha1.Command{}, Handler: handler.EnqueueRequestsFromMapFunc(requestsForCommand)},
		},
		Reconciler: observed,
		Options:    options,
	}
}

func requestForQueue(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// requestsForChildren maps a queue to requests for its children, which are opened and closed together with it.
func (r *Reconciler) requestsForChildren(ctx context.Context, o client.Object) []reconcile.Request {
	var list schedulingv1beta1.QueueList
	if err := r.cache.List(ctx, &list, client.MatchingFields{index.QueueParent: o.GetName()}); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range requests {
		requests[i] = requestForQueue(list.Items[i].Name)
	}
	return requests
}

// groupHandler enqueues a queue when one of its PodGroups is created or deleted, or changes its phase or queue.
func groupHandler() handler.EventHandler {
	type workQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(o client.Object, q workQueue) {
		q.AddAfter(requestForQueue(index.QueueOfPodGroup(o.(*schedulingv1beta1.PodGroup))), coalesce)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q workQueue) { wake(e.Object, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q workQueue) { wake(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workQueue) {
			old, group := e.ObjectOld.(*schedulingv1beta1.PodGroup), e.ObjectNew.(*schedulingv1beta1.PodGroup)
			if old.Status.Phase != group.Status.Phase || old.Spec.Queue != group.Spec.Queue {
				wake(old, q)
				wake(group, q)
			}
		},
	}
}

// Reconcile updates a queue and carries out the oldest command for it. A request with a namespace is for a command
// that no controller carries out.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if req.Namespace != "" {
		return reconcile.Result{}, r.dropMisdirected(ctx, req.NamespacedName)
	}
	var q schedulingv1beta1.Queue
	if err := r.cache.Get(ctx, req.NamespacedName, &q); err != nil {
		return reconcile.Result{}, r.forgetQueue(ctx, req.Name, err)
	}
	parent, held, err := r.parentAndGroups(ctx, &q)
	if err != nil {
		return reconcile.Result{}, err
	}
	command, more, err := r.oldestCommand(ctx, &q)
	if err != nil {
		return reconcile.Result{}, err
	}
	var asked busv1alpha1.Action
	if command != nil {
		asked = busv1alpha1.Action(command.Action)
	}
	p := computePlan(&q, parent, countGroups(held), asked)
	exact := command != nil || p.state != q.Status.State
	if exact {
		// Decide about a state change based on the API server's state, because the cache may not show the controller's
		// last write yet. Otherwise, a queue that was just opened could be closed again.
		var current schedulingv1beta1.Queue // empty, because decoding keeps fields that the response does not contain
		if err := r.api.Get(ctx, req.NamespacedName, &current); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		q = current
		if command != nil && !isMeantFor(command, &q) {
			return reconcile.Result{RequeueAfter: outdatedCacheDelay}, nil // another queue now has the name
		}
		p = computePlan(&q, parent, countGroups(held), asked)
	} else if wait := r.writeDelay(&q, &p); wait > 0 {
		exportMetrics(q.Name, p.counts)
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	err = r.writeQueuePlan(ctx, &q, &p, exact)
	if err != nil {
		return reconcile.Result{}, err
	}
	exportMetrics(q.Name, p.counts)
	if command != nil {
		r.recordResult(&q, command, &p)
		if err := r.deleteCommand(ctx, command); err != nil {
			return reconcile.Result{}, err
		}
	}
	if more {
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil
	}
	return reconcile.Result{}, nil
}

// forgetQueue deletes the metrics, the stored time and the commands of a queue if err means that the queue no longer
// exists. It returns any other error unchanged.
func (r *Reconciler) forgetQueue(ctx context.Context, name string, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	deleteQueueMetrics(name)
	r.deleted(name)
	delete(r.counted, name)
	return r.forgetCommands(ctx, name)
}

// writeDelay returns how long to postpone a plan that changes only counters if counters were written recently. Each
// write to a queue causes a watch event, which would immediately lead to the next write while gangs are moving through
// their phases.
func (r *Reconciler) writeDelay(q *schedulingv1beta1.Queue, p *plan) time.Duration {
	s := &q.Status
	if p.parent != "" || p.closedByParent != "" || p.counts == (counts{s.Pending, s.Inqueue, s.Running, s.Unknown, s.Completed}) {
		return 0
	}
	now := r.now()
	if wait := coalesce - now.Sub(r.counted[q.Name]); wait > 0 {
		return wait
	}
	r.counted[q.Name] = now
	return 0
}

// parentAndGroups returns the parent of a queue and the PodGroups in it.
func (r *Reconciler) parentAndGroups(ctx context.Context, q *schedulingv1beta1.Queue) (*schedulingv1beta1.Queue, []schedulingv1beta1.PodGroup, error) {
	var held schedulingv1beta1.PodGroupList
	if err := r.cache.List(ctx, &held, client.MatchingFields{index.GroupQueue: q.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("podgroups of queue %s: %w", q.Name, err)
	}
	name := q.Spec.Parent
	if name == "" {
		name = keys.RootQueue
	}
	if q.Name == keys.RootQueue {
		return nil, held.Items, nil
	}
	var parent schedulingv1beta1.Queue
	err := r.cache.Get(ctx, types.NamespacedName{Name: name}, &parent)
	if apierrors.IsNotFound(err) {
		return nil, held.Items, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("queue %s: %w", name, err)
	}
	return &parent, held.Items, nil
}

// writeQueuePlan writes the changes of a plan. If exactly is true, it writes only if the queue still has the version
// that was read as q, and otherwise returns a conflict. The state is written first, because from then on the command
// counts as carried out.
func (r *Reconciler) writeQueuePlan(ctx context.Context, q *schedulingv1beta1.Queue, p *plan, exactly bool) error {
	status := map[string]any{}
	if q.Status.State != p.state {
		status["state"] = p.state
	}
	for name, n := range map[string][2]int32{
		"pending": {q.Status.Pending, p.counts.pending}, "inqueue": {q.Status.Inqueue, p.counts.inqueue}, "running": {q.Status.Running, p.counts.running},
		"unknown": {q.Status.Unknown, p.counts.unknown}, "completed": {q.Status.Completed, p.counts.completed},
	} {
		if n[0] != n[1] {
			status[name] = n[1]
		}
	}
	before, after := map[string]any{}, map[string]any{}
	if p.parent != "" {
		before["spec"] = map[string]any{"parent": p.parent}
	}
	if p.closedByParent != "" && q.Annotations[keys.ClosedByParent] != p.closedByParent {
		// Even after a crash in between, the queue must be opened together with its parent. Therefore, the annotation
		// is set before the queue is closed, and removed after it was opened.
		annotation := map[string]any{"annotations": map[string]string{keys.ClosedByParent: p.closedByParent}}
		if p.state == schedulingv1beta1.QueueStateOpen {
			after["metadata"] = annotation
		} else {
			before["metadata"] = annotation
		}
	}
	if err := r.patchQueue(ctx, q, before, false); err != nil {
		return err
	}
	if exactly && len(before) > 0 {
		exactly = false // the patch above created a newer version; no other component writes the state
	}
	if len(status) > 0 {
		content := map[string]any{"status": status}
		if exactly {
			content["metadata"] = map[string]any{"resourceVersion": q.ResourceVersion}
		}
		if err := r.patchQueue(ctx, q, content, true); err != nil {
			return err
		}
	}
	return r.patchQueue(ctx, q, after, false)
}

func (r *Reconciler) patchQueue(ctx context.Context, q *schedulingv1beta1.Queue, content map[string]any, status bool) error {
	if len(content) == 0 {
		return nil
	}
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	target := &schedulingv1beta1.Queue{}
	target.Name = q.Name
	patch := client.RawPatch(types.MergePatchType, data)
	if status {
		err = r.api.Status().Patch(ctx, target, patch)
	} else {
		err = r.api.Patch(ctx, target, patch)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("queue %s: %w", q.Name, err)
	}
	return nil
}
