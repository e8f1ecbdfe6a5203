package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
)

// errDead is what every call returns once the process is dead.
var errDead = errors.New("the process is dead")

// world is a cluster around queues a, b below a, and c: the API, a cache that follows it late, and everybody else.
type world struct {
	api        client.WithWatch // everybody's but the controller's
	mine       client.Client    // the controller's
	seen       slowCache
	reconciler *Reconciler
	clock      time.Time
	writesLeft int  // how many writes succeed before the process dies; -1: all
	lostReply  bool // the last write before the death is carried out, only nobody hears of it
	trace      []string
	made       int
	// lastCommand is what the last command asked of a queue that never had a wish of its own.
	lastCommand map[string]bus.Action
}

var queueNames = []string{"a", "b", "c"}

func newWorld() (*world, error) {
	w := &world{clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), writesLeft: -1, seen: slowCache{}, lastCommand: map[string]bus.Action{}}
	w.api = newFake(testScheme()).Build()
	w.mine = interceptor.NewClient(w.api, w.dying())
	for _, name := range append([]string{keys.RootQueue}, queueNames...) {
		if err := w.create(name); err != nil {
			return nil, err
		}
	}
	w.start()
	return w, nil
}

// start begins a new life of the process.
func (w *world) start() {
	w.writesLeft = -1
	w.reconciler = New(Options{Cache: w.seen, API: w.mine, Recorder: record.NewFakeRecorder(1000)})
	w.reconciler.now = func() time.Time { return w.clock }
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// dying counts writes, and lets the process die.
func (w *world) dying() interceptor.Funcs {
	write := func(what string, do func() error) error {
		if w.writesLeft == 0 {
			return errDead
		}
		w.writesLeft--
		err := do()
		w.note("  %s: %v", what, err)
		if w.writesLeft == 0 && w.lostReply {
			return errDead
		}
		return err
	}
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			data, _ := p.Data(o)
			return write("patch "+o.GetName()+" "+string(data), func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			data, _ := p.Data(o)
			return write("patch status of "+o.GetName()+" "+string(data), func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return write("delete "+o.GetName(), func() error { return c.Delete(ctx, o, opts...) })
		},
	}
}

func (w *world) create(name string) error {
	w.made++
	q := &scheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(fmt.Sprintf("%s-%d", name, w.made))}}
	if name == "b" {
		q.Spec.Parent = "a"
	}
	delete(w.lastCommand, name)
	w.note("queue %s is made", name)
	return w.api.Create(context.Background(), q)
}

// queue reads one, nil when there is none.
func (w *world) queue(name string) *scheduling.Queue {
	var q scheduling.Queue
	if w.api.Get(context.Background(), client.ObjectKey{Name: name}, &q) != nil {
		return nil
	}
	return &q
}

// remake deletes a queue, or makes it again.
func (w *world) remake(name string) error {
	if q := w.queue(name); q != nil {
		w.note("queue %s is deleted", name)
		return w.api.Delete(context.Background(), q)
	}
	return w.create(name)
}

func (w *world) command(name string, action bus.Action) error {
	q := w.queue(name)
	if q == nil {
		return nil
	}
	w.made++
	if _, wished := w.lastCommand[name]; !wished || w.lastCommand[name] != "" {
		w.lastCommand[name] = action
	}
	w.note("command %d to %s: %s", w.made, name, action)
	return w.api.Create(context.Background(), &bus.Command{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("command-%03d", w.made), UID: types.UID(fmt.Sprint(w.made)),
			CreationTimestamp: metav1.NewTime(w.clock)},
		Action:       string(action),
		TargetObject: &metav1.OwnerReference{APIVersion: scheduling.GroupVersion.String(), Kind: "Queue", Name: name, UID: q.UID},
	})
}

// wish lets a queue ask for a state itself, or take that back.
func (w *world) wish(name, state string) error {
	q := w.queue(name)
	if q == nil {
		return nil
	}
	w.lastCommand[name] = "" // what it comes to is no longer for commands alone to say
	w.note("queue %s wishes %q", name, state)
	if q.Annotations == nil {
		q.Annotations = map[string]string{}
	}
	q.Annotations[keys.QueueState] = state
	if state == "" {
		delete(q.Annotations, keys.QueueState)
	}
	return w.api.Update(context.Background(), q)
}

// group moves a PodGroup of a queue on: it comes, it changes its phase, it goes.
func (w *world) group(queue string, n int, phase scheduling.PodGroupPhase) error {
	ctx, name := context.Background(), fmt.Sprintf("%s-group-%d", queue, n)
	var g scheduling.PodGroup
	err := w.api.Get(ctx, client.ObjectKey{Namespace: "ns", Name: name}, &g)
	w.note("group %s: %s", name, phase)
	switch {
	case apierrors.IsNotFound(err):
		return w.api.Create(ctx, &scheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: scheduling.PodGroupSpec{Queue: queue}})
	case err != nil:
		return err
	case phase == "":
		return w.api.Delete(ctx, &g)
	}
	g.Status.Phase = phase
	return w.api.Update(ctx, &g)
}

// kinds are those that are watched.
var kinds = map[string]func() client.ObjectList{
	"Queue":    func() client.ObjectList { return &scheduling.QueueList{} },
	"PodGroup": func() client.ObjectList { return &scheduling.PodGroupList{} },
	"Command":  func() client.ObjectList { return &bus.CommandList{} },
}

// see lets the cache of one kind catch up.
func (w *world) see(kind string) error {
	list := kinds[kind]()
	if err := w.api.List(context.Background(), list); err != nil {
		return err
	}
	w.seen[kind] = list
	return nil
}

func (w *world) seeAll() error {
	return errors.Join(w.see("Queue"), w.see("PodGroup"), w.see("Command"))
}

// slowCache shows what was seen last.
type slowCache map[string]client.ObjectList

func (c slowCache) each(kind string, f func(client.Object)) {
	if list := c[kind]; list != nil {
		_ = meta.EachListItem(list, func(o runtime.Object) error { f(o.DeepCopyObject().(client.Object)); return nil })
	}
}

func (c slowCache) Get(_ context.Context, key client.ObjectKey, wanted client.Object, _ ...client.GetOption) error {
	q := wanted.(*scheduling.Queue) // the controller gets nothing else from the cache
	err := error(apierrors.NewNotFound(schema.GroupResource{Resource: "queues"}, key.Name))
	c.each("Queue", func(o client.Object) {
		if o.GetName() == key.Name {
			*q, err = *o.(*scheduling.Queue), nil
		}
	})
	return err
}

func (c slowCache) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	asked := o.FieldSelector.Requirements()[0]
	for _, i := range index.All() {
		if i.Name != asked.Field {
			continue
		}
		var found []runtime.Object
		c.each(reflect.TypeOf(i.Object).Elem().Name(), func(o client.Object) {
			if slices.Contains(i.Values(o), asked.Value) {
				found = append(found, o)
			}
		})
		return meta.SetList(list, found)
	}
	return fmt.Errorf("index %s is not known", asked.Field)
}

// reconcile runs the controller once for a queue; it dies after some writes when writes is not negative.
func (w *world) reconcile(name string, writes int, lostReply bool) error {
	w.note("reconcile %s", name)
	w.writesLeft, w.lostReply = writes, lostReply
	_, err := w.reconciler.Reconcile(context.Background(), request(name))
	dead := w.writesLeft == 0
	w.writesLeft = -1
	if dead {
		w.note("crash")
		w.start()
		return nil
	}
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// calm lets the controller work until nothing changes any more.
func (w *world) calm() error {
	last := ""
	for range 50 {
		w.clock = w.clock.Add(time.Second)
		for _, name := range append([]string{keys.RootQueue}, queueNames...) {
			if err := errors.Join(w.seeAll(), w.reconcile(name, -1, false)); err != nil {
				return err
			}
		}
		now := w.versions()
		if now == last {
			return nil
		}
		last = now
	}
	return errors.New("it never comes to rest")
}

// versions tells all objects' versions.
func (w *world) versions() string {
	var b strings.Builder
	for _, list := range []client.ObjectList{&scheduling.QueueList{}, &bus.CommandList{}} {
		if err := w.api.List(context.Background(), list); err != nil {
			return err.Error()
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			fmt.Fprintln(&b, o.(client.Object).GetName(), o.(client.Object).GetResourceVersion())
			return nil
		})
	}
	return b.String()
}

// check is what must hold at rest.
func (w *world) check() error {
	var commands bus.CommandList
	if err := w.api.List(context.Background(), &commands); err != nil {
		return err
	}
	if n := len(commands.Items); n > 0 {
		return fmt.Errorf("%d commands are left", n)
	}
	for _, name := range queueNames {
		q := w.queue(name)
		if q == nil {
			continue
		}
		var groups, held scheduling.PodGroupList
		if err := w.api.List(context.Background(), &groups); err != nil {
			return err
		}
		for _, g := range groups.Items {
			if g.Spec.Queue == name {
				held.Items = append(held.Items, g)
			}
		}
		if err := w.checkQueue(q, w.queue(q.Spec.Parent), count(held.Items)); err != nil {
			return fmt.Errorf("queue %s, %+v, annotations %v: %w", name, q.Status, q.Annotations, err)
		}
	}
	return nil
}

func (w *world) checkQueue(q, parent *scheduling.Queue, c counts) error {
	s := q.Status
	byParent := q.Annotations[keys.ClosedByParent] == "true"
	last, asked := w.lastCommand[q.Name]
	switch {
	case c != counts{s.Pending, s.Inqueue, s.Running, s.Unknown, s.Completed}:
		return fmt.Errorf("in truth %+v", c)
	case s.State != scheduling.QueueStateOpen && !closed(q):
		return errors.New("it has no such state")
	case s.State == scheduling.QueueStateClosing && c.total() == 0:
		return errors.New("it is empty")
	case heldShut(parent) && !closed(q):
		return errors.New("its parent is closed")
	case byParent && !heldShut(parent) && parent != nil:
		return errors.New("its parent is not closed")
	case !asked && parent != nil && !heldShut(parent) && closed(q):
		return errors.New("nobody asked for that")
	case q.Wish() == scheduling.QueueStateClosed && !closed(q), q.Wish() == scheduling.QueueStateOpen && !heldShut(parent) && closed(q):
		return errors.New("its wish is not followed")
	case q.Name != "b" && last == bus.CloseQueueAction && !closed(q), q.Name != "b" && last == bus.OpenQueueAction && closed(q):
		return fmt.Errorf("the last command was %s", last)
	}
	return nil
}
