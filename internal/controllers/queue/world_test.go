package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

// world is a cluster around the queues a, b (a child of a), and c: the API server, caches that lag behind, and all other
// components.
type world struct {
	server     *apiserver.Server
	api        *apiserver.Connection // the controller's connection to the server
	seen       *apiserver.Cache      // the controller's caches
	reconciler *Reconciler
	clock      time.Time
	trace      []string
	made       int
	// lastCommand is the action of the last command, for queues that never had a desired state in their annotation.
	lastCommand map[string]busv1alpha1.Action
}

var queueNames = []string{"a", "b", "c"}

func newWorld() *world {
	w := &world{clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), seen: apiserver.NewCache(), lastCommand: map[string]busv1alpha1.Action{}}
	w.server = apiserver.New(testScheme(), func() time.Time { return w.clock })
	w.server.KeepCopies = true
	w.api = apiserver.NewConnection(w.server)
	for _, name := range append([]string{keys.RootQueue}, queueNames...) {
		w.create(name)
	}
	w.start()
	return w
}

// start starts a new process.
func (w *world) start() {
	w.api.WritesLeft = -1
	w.reconciler = New(Options{Cache: w.seen, API: w.api.Client(), Recorder: record.NewFakeRecorder(1000), Now: func() time.Time { return w.clock }})
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) create(name string) {
	q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if name == "b" {
		q.Spec.Parent = "a"
	}
	delete(w.lastCommand, name)
	w.note("queue %s is made", name)
	w.server.Save(q)
}

// queue returns a queue, or nil.
func (w *world) queue(name string) *schedulingv1beta1.Queue {
	return apiserver.Find[*schedulingv1beta1.Queue](w.server, "", name).DeepCopy()
}

// remake deletes a queue, or creates it again.
func (w *world) remake(name string) {
	if q := w.queue(name); q != nil {
		w.note("queue %s is deleted", name)
		w.server.Remove(q)
		return
	}
	w.create(name)
}

func (w *world) command(name string, action busv1alpha1.Action) {
	q := w.queue(name)
	if q == nil {
		return
	}
	w.made++
	if _, wished := w.lastCommand[name]; !wished || w.lastCommand[name] != "" {
		w.lastCommand[name] = action
	}
	w.note("command %d to %s: %s", w.made, name, action)
	w.server.Save(&busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("command-%03d", w.made)}, Action: string(action),
		TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: name, UID: q.UID},
	})
}

// wish sets or removes a queue's annotation for its desired state.
func (w *world) wish(name, state string) {
	q := w.queue(name)
	if q == nil {
		return
	}
	w.lastCommand[name] = "" // the result no longer depends on commands alone
	w.note("queue %s wishes %q", name, state)
	if q.Annotations == nil {
		q.Annotations = map[string]string{}
	}
	q.Annotations[keys.QueueState] = state
	if state == "" {
		delete(q.Annotations, keys.QueueState)
	}
	w.server.Save(q)
}

// group creates, changes or deletes a PodGroup of a queue.
func (w *world) group(queue string, n int, phase schedulingv1beta1.PodGroupPhase) {
	name := fmt.Sprintf("%s-group-%d", queue, n)
	g := apiserver.Find[*schedulingv1beta1.PodGroup](w.server, "ns", name).DeepCopy()
	w.note("group %s: %s", name, phase)
	switch {
	case g == nil:
		w.server.Save(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: schedulingv1beta1.PodGroupSpec{Queue: queue}})
	case phase == "":
		w.server.Remove(g)
	default:
		g.Status.Phase = phase
		w.server.Save(g)
	}
}

// watched lists the kinds that the controller watches.
var watched = []schema.GroupVersionKind{
	schedulingv1beta1.GroupVersion.WithKind("Queue"), schedulingv1beta1.GroupVersion.WithKind("PodGroup"), busv1alpha1.GroupVersion.WithKind("Command"),
}

// see updates the cache of one kind.
func (w *world) see(kind schema.GroupVersionKind) { w.seen.Replace(kind, w.server.Objects(kind)) }

func (w *world) seeAll() {
	for _, kind := range watched {
		w.see(kind)
	}
}

// reconcile runs the controller once for a queue. It crashes after the given number of writes, unless that is negative.
func (w *world) reconcile(name string, writes int, lostReply bool) error {
	w.api.WritesLeft, w.api.LoseLastResponse, w.api.Writes, w.api.HasFailed = writes, lostReply, nil, false
	_, err := w.reconciler.Reconcile(context.Background(), requestForQueue(name))
	w.note("reconcile %s: %s: %v", name, strings.Join(w.api.Writes, ", "), err)
	dead := w.api.WritesLeft == 0
	w.api.WritesLeft = -1
	if dead {
		w.note("crash")
		w.start()
		return nil
	}
	if apierrors.IsConflict(err) || w.api.HasFailed {
		return nil
	}
	return err
}

// calm reconciles until nothing changes.
func (w *world) calm() error {
	w.api.Faults = nil
	for range 50 {
		before := len(w.server.History)
		w.clock = w.clock.Add(time.Second)
		for _, name := range append([]string{keys.RootQueue}, queueNames...) {
			w.seeAll()
			if err := w.reconcile(name, -1, false); err != nil {
				return err
			}
		}
		if len(w.server.History) == before {
			return nil
		}
	}
	return errors.New("it never comes to rest")
}

// check checks the conditions that must hold at rest.
func (w *world) check() error {
	if n := len(apiserver.All[*busv1alpha1.Command](w.server)); n > 0 {
		return fmt.Errorf("%d commands are left", n)
	}
	for _, name := range queueNames {
		q := w.queue(name)
		if q == nil {
			continue
		}
		var held []schedulingv1beta1.PodGroup
		for _, g := range apiserver.All[*schedulingv1beta1.PodGroup](w.server) {
			if g.Spec.Queue == name {
				held = append(held, *g)
			}
		}
		if err := w.checkQueue(q, w.queue(q.Spec.Parent), countGroups(held)); err != nil {
			return fmt.Errorf("queue %s, %+v, annotations %v: %w", name, q.Status, q.Annotations, err)
		}
	}
	return w.server.CheckUnmodified()
}

func (w *world) checkQueue(q, parent *schedulingv1beta1.Queue, c counts) error {
	s := q.Status
	byParent := q.Annotations[keys.ClosedByParent] == "true"
	last, asked := w.lastCommand[q.Name]
	switch {
	case c != counts{s.Pending, s.Inqueue, s.Running, s.Unknown, s.Completed}:
		return fmt.Errorf("in truth %+v", c)
	case s.State != schedulingv1beta1.QueueStateOpen && !isClosedOrClosing(q):
		return errors.New("it has no such state")
	case s.State == schedulingv1beta1.QueueStateClosing && c.totalGroups() == 0:
		return errors.New("it is empty")
	case mustStayClosed(parent) && !isClosedOrClosing(q):
		return errors.New("its parent is closed")
	case byParent && !mustStayClosed(parent) && parent != nil:
		return errors.New("its parent is not closed")
	case !asked && parent != nil && !mustStayClosed(parent) && isClosedOrClosing(q):
		return errors.New("nobody asked for that")
	case q.Wish() == schedulingv1beta1.QueueStateClosed && !isClosedOrClosing(q), q.Wish() == schedulingv1beta1.QueueStateOpen && !mustStayClosed(parent) && isClosedOrClosing(q):
		return errors.New("its wish is not followed")
	case q.Name != "b" && last == busv1alpha1.CloseQueueAction && !isClosedOrClosing(q), q.Name != "b" && last == busv1alpha1.OpenQueueAction && isClosedOrClosing(q):
		return fmt.Errorf("the last command was %s", last)
	}
	return nil
}
