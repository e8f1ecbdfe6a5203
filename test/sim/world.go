package sim

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/apiserver"
)

// scheme has Kubernetes' kinds and the kinds of this project.
var scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // a programming error
		}
	}
	return s
}

// epoch is the time at which every world starts.
var epoch = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// World is a whole system: an API server, schedulers, controllers, nodes, users and faults. It belongs to one
// goroutine, and everything that happens in it follows from its seed and its script.
type World struct {
	timeline
	seed            uint64
	scheme          *runtime.Scheme
	server          *apiserver.Server
	state           state
	changes         map[schema.GroupVersionKind][]apiserver.Change
	reflectors      []*reflector
	running         *fiber
	idle            []*coroutine // run no fiber
	replicas        []*replica
	kubelets        []*kubelet
	manager         *clusterManager
	users           *users
	webhookService  *webhookService
	outside         *process // owns what happens outside of the programs: actions, the API server and the network
	schedulerConfig *config.Config
	schedulerRandom *rand.Rand
	checks          checks

	failpoints  []*failpoint
	refusals    []*refusal
	coverage    coverage
	serverDown  bool
	storageFull bool
	calm        bool      // faults have stopped
	lastChange  time.Time // when a job or a pod last changed
	// slowestClock is by how much the clock of a program has been behind, at most.
	slowestClock time.Duration

	log       io.Writer // receives the trace; nil means none
	violation error     // the first violation
}

// state holds the current objects of the kinds that the world itself reads.
type state struct {
	pods   map[types.NamespacedName]*corev1.Pod
	nodes  map[string]*corev1.Node
	jobs   map[types.NamespacedName]*batchv1alpha1.Job
	groups map[types.NamespacedName]*schedulingv1beta1.PodGroup
	queues map[string]*schedulingv1beta1.Queue
	leases map[string]*coordinationv1.Lease
}

// newWorld returns a world without objects and without running programs.
func newWorld(seed uint64, log io.Writer) *World {
	w := &World{seed: seed, scheme: scheme, changes: map[schema.GroupVersionKind][]apiserver.Change{}, log: log, coverage: coverage{}}
	w.now = epoch
	w.schedulerRandom = w.randomFor("cycles")
	w.state = state{
		pods: map[types.NamespacedName]*corev1.Pod{}, nodes: map[string]*corev1.Node{}, jobs: map[types.NamespacedName]*batchv1alpha1.Job{},
		groups: map[types.NamespacedName]*schedulingv1beta1.PodGroup{}, queues: map[string]*schedulingv1beta1.Queue{}, leases: map[string]*coordinationv1.Lease{},
	}
	w.checks = newChecks(w)
	w.server = apiserver.New(scheme, func() time.Time { return w.now })
	w.server.Changed = w.observe
	w.outside = &process{world: w, name: "outside"}
	w.runOutside = func(run func()) { w.outside.spawn(run, nil) }
	w.webhookService = newWebhookService(w)
	w.server.CallWebhook, w.server.Authorize = w.webhookService.call, isAuthorized
	w.manager = newClusterManager(w)
	w.users = newUsers(w)
	return w
}

// randomFor returns the random source of a part of the world.
func (w *World) randomFor(part string) *rand.Rand { return newRandom(w.seed, part) }

// trace writes a line to the trace.
func (w *World) trace(format string, args ...any) {
	if w.log == nil {
		return
	}
	since := w.now.Sub(epoch)
	fmt.Fprintf(w.log, "%s %s\n", formatTime(since), fmt.Sprintf(format, args...))
}

// formatTime returns a time since the start as minutes, seconds and microseconds.
func formatTime(since time.Duration) string {
	return fmt.Sprintf("%02d:%09.6f", int(since.Minutes()), (since % time.Minute).Seconds())
}

// fail records a violation. Only the first one counts, because others may follow from it.
func (w *World) fail(format string, args ...any) {
	if w.violation == nil {
		w.violation = fmt.Errorf("%s: %s", formatTime(w.now.Sub(epoch)), fmt.Sprintf(format, args...))
		w.trace("VIOLATION %s", fmt.Sprintf(format, args...))
	}
}

// runUntil runs all events up to a time. It stops early after a violation.
func (w *World) runUntil(end time.Time) {
	for w.violation == nil && w.step(end) {
	}
	if w.violation == nil {
		w.now = end
	}
}

// do carries out a request at the API server.
func (w *World) do(r *apiserver.Request) (runtime.Object, error) {
	if w.storageFull && r.IsWrite() && r.Verb != apiserver.Delete {
		return nil, storageFullError()
	}
	return w.server.Do(r)
}

// observe updates the state after a change, checks the invariants, and notifies all that watch the kind.
func (w *World) observe(c apiserver.Change) {
	w.changes[c.Kind] = append(w.changes[c.Kind], c)
	w.updateState(c)
	w.checks.observe(c)
	for _, f := range w.reflectors {
		if f.kind == c.Kind && f.process.isAlive() {
			f.notify()
		}
	}
	w.manager.observe(c)
	if pod, ok := c.Object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
		if k := w.kubelet(pod.Spec.NodeName); k != nil {
			k.look(pod)
		}
	}
}

func (w *World) updateState(c apiserver.Change) {
	switch o := cmp.Or(c.Object, c.Old).(type) {
	case *corev1.Pod:
		w.lastChange = w.now
		updateMap(w.state.pods, client.ObjectKeyFromObject(o), o, c.Object == nil)
	case *corev1.Node:
		updateMap(w.state.nodes, o.Name, o, c.Object == nil)
	case *batchv1alpha1.Job:
		w.lastChange = w.now
		updateMap(w.state.jobs, client.ObjectKeyFromObject(o), o, c.Object == nil)
	case *schedulingv1beta1.PodGroup:
		updateMap(w.state.groups, client.ObjectKeyFromObject(o), o, c.Object == nil)
	case *schedulingv1beta1.Queue:
		updateMap(w.state.queues, o.Name, o, c.Object == nil)
	case *coordinationv1.Lease:
		updateMap(w.state.leases, o.Name, o, c.Object == nil)
	}
}

func updateMap[K comparable, V any](all map[K]V, key K, value V, gone bool) {
	if gone {
		delete(all, key)
		return
	}
	all[key] = value
}

// pods returns all pods, sorted by name.
func (w *World) pods() []*corev1.Pod {
	return slices.SortedFunc(maps.Values(w.state.pods), func(x, y *corev1.Pod) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
}

// pod returns a pod, or nil.
func (w *World) pod(namespace, name string) *corev1.Pod {
	return w.state.pods[types.NamespacedName{Namespace: namespace, Name: name}]
}

// kubelet returns the kubelet of a node, or nil.
func (w *World) kubelet(node string) *kubelet {
	for _, k := range w.kubelets {
		if k.node == node {
			return k
		}
	}
	return nil
}

// fitsOnNode reports whether the requests of a node's unfinished pods do not exceed its allocatable CPU.
func (w *World) fitsOnNode(node string) bool {
	n := w.state.nodes[node]
	return n != nil && w.requestedOn(node) <= n.Status.Allocatable.Cpu().MilliValue()
}

// requestedOn returns the sum of the requests of the unfinished pods of a node, in thousandths of a CPU.
func (w *World) requestedOn(node string) int64 {
	var sum int64
	for _, pod := range w.state.pods {
		if pod.Spec.NodeName == node && !isFinished(pod) {
			sum += milliCPU(pod)
		}
	}
	return sum
}

// milliCPU returns the CPU request of a pod in thousandths.
func milliCPU(pod *corev1.Pod) int64 {
	var sum int64
	for i := range pod.Spec.Containers {
		sum += pod.Spec.Containers[i].Resources.Requests.Cpu().MilliValue()
	}
	return sum
}

// objectsAt returns the objects of a kind after a number of changes, sorted by name.
func (w *World) objectsAt(kind schema.GroupVersionKind, changes int) []client.Object {
	objects := map[types.NamespacedName]client.Object{}
	for _, c := range w.changes[kind][:changes] {
		if c.Object == nil {
			delete(objects, client.ObjectKeyFromObject(c.Old))
		} else {
			objects[client.ObjectKeyFromObject(c.Object)] = c.Object
		}
	}
	return slices.SortedFunc(maps.Values(objects), func(x, y client.Object) int {
		return cmp.Or(cmp.Compare(x.GetNamespace(), y.GetNamespace()), cmp.Compare(x.GetName(), y.GetName()))
	})
}

func mapsKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

func compareKinds(x, y schema.GroupVersionKind) int { return cmp.Compare(x.String(), y.String()) }
