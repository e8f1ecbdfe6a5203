package queue

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

func testQueue(name string, state schedulingv1beta1.QueueState, annotations ...string) *schedulingv1beta1.Queue {
	q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}, Spec: schedulingv1beta1.QueueSpec{Parent: "root"}}
	q.Status.State = state
	if name == keys.RootQueue {
		q.Spec.Parent = ""
	}
	for _, a := range annotations {
		q.Annotations[keys.ClosedByParent] = a
	}
	return q
}

// wishing returns a queue with an annotation for its desired state.
func wishing(name string, state schedulingv1beta1.QueueState, wish string) *schedulingv1beta1.Queue {
	q := testQueue(name, state)
	q.Annotations[keys.QueueState] = wish
	return q
}

func TestEveryRowOfTheStateTable(t *testing.T) {
	t.Parallel()
	const open, closing, closed, unknown = schedulingv1beta1.QueueStateOpen, schedulingv1beta1.QueueStateClosing, schedulingv1beta1.QueueStateClosed, schedulingv1beta1.QueueStateUnknown
	rows := []struct {
		state           schedulingv1beta1.QueueState
		action          busv1alpha1.Action
		empty, occupied schedulingv1beta1.QueueState
	}{
		{"", "", open, open}, {open, "", open, open}, {closing, "", closed, closing}, {closed, "", closed, closed}, {unknown, "", unknown, unknown},
		{"", busv1alpha1.OpenQueueAction, open, open}, {open, busv1alpha1.OpenQueueAction, open, open}, {closing, busv1alpha1.OpenQueueAction, open, open},
		{closed, busv1alpha1.OpenQueueAction, open, open}, {unknown, busv1alpha1.OpenQueueAction, open, open},
		{"", busv1alpha1.CloseQueueAction, closed, closing}, {open, busv1alpha1.CloseQueueAction, closed, closing}, {closing, busv1alpha1.CloseQueueAction, closed, closing},
		{closed, busv1alpha1.CloseQueueAction, closed, closed}, {unknown, busv1alpha1.CloseQueueAction, closed, closing},
		{open, "Nonsense", open, open},
	}
	for _, row := range rows {
		for _, held := range []counts{{}, {completed: 1}} {
			want := row.empty
			if held.totalGroups() > 0 {
				want = row.occupied
			}
			if got := computePlan(testQueue("q", row.state), nil, held, row.action); got.state != want {
				t.Errorf("%q asked for %q with %d groups: %s, want %s", row.state, row.action, held.totalGroups(), got.state, want)
			}
		}
	}
}

func TestAQueueFollowsItsParent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		queue, parent *schedulingv1beta1.Queue
		asked         busv1alpha1.Action
		state         schedulingv1beta1.QueueState
		annotation    string
	}{
		"closed with it": {testQueue("q", "Open"), testQueue("p", "Closing"), "", "Closed", "true"},
		"opened with it": {testQueue("q", "Closed", "true"), testQueue("p", "Open"), "", "Open", "false"},
		"not opened when it was closed for itself": {testQueue("q", "Closed"), testQueue("p", "Open"), "", "Closed", ""},
		"closed for itself from now on":            {testQueue("q", "Closed", "true"), testQueue("p", "Closed"), busv1alpha1.CloseQueueAction, "Closed", "false"},
		"not opened under a closed one":            {testQueue("q", "Closed"), testQueue("p", "Closed"), busv1alpha1.OpenQueueAction, "Closed", ""},
		"opened under root whatever its state":     {testQueue("q", "Closed"), testQueue("root", "Closed"), busv1alpha1.OpenQueueAction, "Open", ""},
		"root is never closed":                     {testQueue("root", "Open"), nil, busv1alpha1.CloseQueueAction, "Open", ""},
		"closed as its annotation says":            {wishing("q", "Open", "Closed"), testQueue("p", "Open"), "", "Closed", ""},
		"opened as its annotation says":            {wishing("q", "Closed", "Open"), testQueue("p", "Open"), "", "Open", ""},
		"not opened by it under a closed parent":   {wishing("q", "Closed", "Open"), testQueue("p", "Closed"), "", "Closed", ""},
		"a command does not outweigh it":           {wishing("q", "Closed", "Closed"), testQueue("p", "Open"), busv1alpha1.OpenQueueAction, "Closed", ""},
		"nor the other way round":                  {wishing("q", "Open", "Open"), testQueue("p", "Open"), busv1alpha1.CloseQueueAction, "Open", ""},
		"nonsense in it is nothing":                {wishing("q", "Open", "Ajar"), testQueue("p", "Open"), "", "Open", ""},
		"root is not closed by it":                 {wishing("root", "Open", "Closed"), nil, "", "Open", ""},
		"what a crash left of having been opened":  {testQueue("q", "Open", "true"), testQueue("p", "Open"), "", "Open", "false"},
		"a parent that does not exist is nothing":  {testQueue("q", "Open"), nil, "", "Open", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := computePlan(test.queue, test.parent, counts{}, test.asked)
			if p.state != test.state || p.closedByParent != test.annotation {
				t.Errorf("state %s, annotation %q; want %s, %q", p.state, p.closedByParent, test.state, test.annotation)
			}
		})
	}
}

// testScheme contains the kinds of Kubernetes and of this project.
var testScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
})

// setup returns a reconciler with an API server that contains these objects, and a cache that is up to date.
func setup(t *testing.T, objects ...client.Object) (*Reconciler, client.Client, *record.FakeRecorder) {
	t.Helper()
	server := apiserver.New(testScheme(), time.Now)
	server.Save(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})
	for _, o := range objects {
		server.Save(o)
	}
	recorder := record.NewFakeRecorder(10)
	return New(Options{Cache: server.Cache(), API: server.Client(), Recorder: recorder}), server.Client(), recorder
}

func reconcileQueue(t *testing.T, r *Reconciler, c client.Client, name string) *schedulingv1beta1.Queue {
	t.Helper()
	if _, err := r.Reconcile(context.Background(), requestForQueue(name)); err != nil {
		t.Fatal(err)
	}
	var q schedulingv1beta1.Queue
	if err := c.Get(context.Background(), client.ObjectKey{Name: name}, &q); err != nil {
		t.Fatal(err)
	}
	return &q
}

func TestANewQueueIsOpenBelowRoot(t *testing.T) {
	t.Parallel()
	r, c, _ := setup(t, &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "q"}})
	q := reconcileQueue(t, r, c, "q")
	if q.Spec.Parent != "root" || q.Status.State != schedulingv1beta1.QueueStateOpen {
		t.Errorf("parent %q, state %q", q.Spec.Parent, q.Status.State)
	}
}

func TestTheCountsAreThoseOfTheGroups(t *testing.T) {
	t.Parallel()
	objects := []client.Object{testQueue("default", "Open")}
	for name, phase := range map[string]schedulingv1beta1.PodGroupPhase{"a": "", "b": "Pending", "c": "Inqueue", "d": "Running", "e": "Unknown", "f": "Completed"} {
		objects = append(objects, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}, Status: schedulingv1beta1.PodGroupStatus{Phase: phase}})
	}
	objects = append(objects, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "ns"}, Spec: schedulingv1beta1.PodGroupSpec{Queue: "other"}})
	r, c, _ := setup(t, objects...)
	s := reconcileQueue(t, r, c, "default").Status
	if diff := cmp.Diff([]int32{2, 1, 1, 1, 1}, []int32{s.Pending, s.Inqueue, s.Running, s.Unknown, s.Completed}); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestACommandClosesAQueueOnce(t *testing.T) {
	t.Parallel()
	command := &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "c"}, Action: string(busv1alpha1.CloseQueueAction),
		TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: "q"}}
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "ns"}, Spec: schedulingv1beta1.PodGroupSpec{Queue: "q"}}
	child := testQueue("child", "Open")
	child.Spec.Parent = "q"
	r, c, recorder := setup(t, testQueue("q", "Open"), child, command, group)
	if q := reconcileQueue(t, r, c, "q"); q.Status.State != schedulingv1beta1.QueueStateClosing {
		t.Errorf("state %s with a group in it", q.Status.State)
	}
	if event := <-recorder.Events; event != "Normal CloseQueue Close queue succeed" {
		t.Errorf("event %q", event)
	}
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(command), command); err == nil {
		t.Error("the command is still there")
	}
	if err := c.Delete(context.Background(), group); err != nil {
		t.Fatal(err)
	}
	if q := reconcileQueue(t, r, c, "q"); q.Status.State != schedulingv1beta1.QueueStateClosed {
		t.Errorf("state %s without groups", q.Status.State)
	}
	if q := reconcileQueue(t, r, c, "child"); q.Status.State != schedulingv1beta1.QueueStateClosed || q.Annotations[keys.ClosedByParent] != "true" {
		t.Errorf("the child is %s, annotations %v", q.Status.State, q.Annotations)
	}
}

// lateCache returns an old state of a queue.
type lateCache struct {
	client.Reader
	queue *schedulingv1beta1.Queue
}

func (l lateCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if q, ok := o.(*schedulingv1beta1.Queue); ok && key.Name == l.queue.Name {
		l.queue.DeepCopyInto(q)
		return nil
	}
	return l.Reader.Get(ctx, key, o, options...)
}

func TestALateCacheClosesNoQueueThatWasJustOpened(t *testing.T) {
	t.Parallel()
	r, c, _ := setup(t, testQueue("q", "Open"))
	r.cache = lateCache{Reader: r.cache, queue: testQueue("q", "Closing")}
	if q := reconcileQueue(t, r, c, "q"); q.Status.State != schedulingv1beta1.QueueStateOpen {
		t.Errorf("state %s", q.Status.State)
	}
}

// TestALateCacheClosesNoQueueWhoseWishWasRemoved covers an annotation that the API server no longer has. The client
// decodes the response into an object, and decoding keeps the annotations that this object had.
func TestALateCacheClosesNoQueueWhoseWishWasRemoved(t *testing.T) {
	t.Parallel()
	r, c, _ := setup(t, testQueue("q", "Open"))
	r.cache = lateCache{Reader: r.cache, queue: wishing("q", "Open", "Closed")}
	if q := reconcileQueue(t, r, c, "q"); q.Status.State != schedulingv1beta1.QueueStateOpen {
		t.Errorf("state %s", q.Status.State)
	}
}

func TestACommandIsFollowedThoughTheCacheIsLate(t *testing.T) {
	t.Parallel()
	command := &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "c"}, Action: string(busv1alpha1.OpenQueueAction),
		TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: "q"}}
	r, c, _ := setup(t, testQueue("q", "Closed"), command)
	r.cache = lateCache{Reader: r.cache, queue: testQueue("q", "Open")}
	if q := reconcileQueue(t, r, c, "q"); q.Status.State != schedulingv1beta1.QueueStateOpen {
		t.Errorf("state %s", q.Status.State)
	}
}

// TestAQueueIsReconciledOnceForEachOfItsCommands checks that only another command makes the controller come back.
func TestAQueueIsReconciledOnceForEachOfItsCommands(t *testing.T) {
	t.Parallel()
	objects := []client.Object{testQueue("q", "Open")}
	for _, name := range []string{"first", "second"} {
		objects = append(objects, &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}, Action: string(busv1alpha1.CloseQueueAction),
			TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: "q"}})
	}
	r, _, _ := setup(t, objects...)
	for i, again := range []bool{true, false} {
		result, err := r.Reconcile(context.Background(), requestForQueue("q"))
		if err != nil {
			t.Fatal(err)
		}
		if got := result.RequeueAfter > 0; got != again {
			t.Errorf("reconcile %d: another one is requested: %v, want %v", i+1, got, again)
		}
	}
}

func TestACommandForAnEarlierQueueOfTheSameNameIsNotFollowed(t *testing.T) {
	t.Parallel()
	command := &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "c"}, Action: string(busv1alpha1.CloseQueueAction),
		TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: "q", UID: "earlier"}}
	r, c, _ := setup(t, testQueue("q", "Open"), command)
	if q := reconcileQueue(t, r, c, "q"); q.Status.State != schedulingv1beta1.QueueStateOpen {
		t.Errorf("state %s", q.Status.State)
	}
}

func TestARefusedCommandSaysWhy(t *testing.T) {
	t.Parallel()
	command := &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "c"}, Action: string(busv1alpha1.OpenQueueAction),
		TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: "child"}}
	child := testQueue("child", "Closed", "true")
	child.Spec.Parent = "p"
	r, c, recorder := setup(t, testQueue("p", "Closed"), child, command)
	if q := reconcileQueue(t, r, c, "child"); q.Status.State != schedulingv1beta1.QueueStateClosed {
		t.Errorf("state %s", q.Status.State)
	}
	if event := <-recorder.Events; !strings.Contains(event, "its parent p is Closed") {
		t.Errorf("event %q", event)
	}
}

func TestCountsAreWrittenTwiceASecondAtMost(t *testing.T) {
	t.Parallel()
	r, c, _ := setup(t, testQueue("default", "Open"))
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r.now = func() time.Time { return now }
	add := func(name string) {
		if err := c.Create(context.Background(), &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}}); err != nil {
			t.Fatal(err)
		}
	}
	pending := func() int32 { return reconcileQueue(t, r, c, "default").Status.Pending }
	add("a")
	if n := pending(); n != 1 {
		t.Fatalf("%d pending, want 1 at once", n)
	}
	add("b")
	now = now.Add(100 * time.Millisecond)
	if n := pending(); n != 1 {
		t.Errorf("%d pending are told after 0.1 s", n)
	}
	result, err := r.Reconcile(context.Background(), requestForQueue("default"))
	if err != nil || result.RequeueAfter != 400*time.Millisecond {
		t.Errorf("again after %s, %v; want 0.4 s", result.RequeueAfter, err)
	}
	now = now.Add(400 * time.Millisecond)
	if n := pending(); n != 2 {
		t.Errorf("%d pending are told after half a second, want 2", n)
	}
}

func TestAQueueMadeAgainKnowsItsGroups(t *testing.T) {
	t.Parallel()
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "ns"}, Spec: schedulingv1beta1.PodGroupSpec{Queue: "q"}}
	group.Status.Phase = schedulingv1beta1.PodGroupRunning
	r, c, _ := setup(t, testQueue("q", "Open"), group)
	reconcileQueue(t, r, c, "q")
	if err := c.Delete(context.Background(), testQueue("q", "")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(context.Background(), requestForQueue("q")); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(context.Background(), wishing("q", "", "Closed")); err != nil {
		t.Fatal(err)
	}
	if q := reconcileQueue(t, r, c, "q"); q.Status.State != schedulingv1beta1.QueueStateClosing || q.Status.Running != 1 {
		t.Errorf("status %+v, want Closing with one that runs", q.Status)
	}
}

func TestACommandForAQueueThatIsGoneIsNotKeptForTheNext(t *testing.T) {
	t.Parallel()
	command := &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "c"}, Action: string(busv1alpha1.CloseQueueAction),
		TargetObject: &metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: "q"}}
	r, c, _ := setup(t, command)
	if _, err := r.Reconcile(context.Background(), requestForQueue("q")); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(command), command); err == nil {
		t.Error("the command is still there")
	}
}

func TestACommandThatNoControllerCarriesOutIsDeleted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target  *metav1.OwnerReference
		deleted bool
	}{
		"of another kind":               {&metav1.OwnerReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "queue", Name: "q"}, true},
		"of another version of a kind":  {&metav1.OwnerReference{APIVersion: "batch.volcano.sh/v9", Kind: "Job", Name: "j"}, true},
		"without a target":              {nil, true},
		"for a job, which its own does": {&metav1.OwnerReference{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "j"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "c"}, Action: string(busv1alpha1.CloseQueueAction), TargetObject: c.target}
			r, api, _ := setup(t, command)
			for _, request := range requestsForCommand(t.Context(), command) {
				if _, err := r.Reconcile(t.Context(), request); err != nil {
					t.Fatal(err)
				}
			}
			err := api.Get(t.Context(), client.ObjectKeyFromObject(command), &busv1alpha1.Command{})
			if deleted := apierrors.IsNotFound(err); deleted != c.deleted {
				t.Errorf("deleted %v, want %v: %v", deleted, c.deleted, err)
			}
		})
	}
}
