package feed

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"

	"github.com/vc-batch/vc/internal/model"
)

// Options configures a Feed.
type Options struct {
	Config *rest.Config
	// SchedulerNames lists the scheduler names whose pods this scheduler places.
	SchedulerNames []string
	// NoCSI turns off the watches of CSI objects (drivers, nodes, capacities, attachments).
	NoCSI bool
	// ObserveLag is called with the time from the API server's answer to a bind until the watch of pods shows it; may be
	// nil. It must not block.
	ObserveLag func(time.Duration)
	// Log receives log entries. The zero value discards them.
	Log logr.Logger
}

// Feed delivers deltas. A new Feed must be created with New for each term of leadership.
type Feed struct {
	log     logr.Logger
	watches []watch
	binds   *bindLag

	mu    sync.Mutex
	inbox []model.Delta
	// inboxSince is when the first delta was put into the inbox, and drainedSince is the same for the last inbox that
	// was drained. A zero time means that the inbox was empty.
	inboxSince, drainedSince time.Time
	signal                   chan struct{}

	unsynced atomic.Int32
	synced   chan struct{}
}

// watch is the watch of one kind.
type watch struct {
	kind   string
	source cache.ListerWatcher
	sample any
	store  cache.ReflectorStore
}

// New prepares the watches. No request is sent until Run is called.
func New(o Options) (*Feed, error) {
	clients, err := newClients(o.Config)
	if err != nil {
		return nil, err
	}
	f := newFeed(o.Log)
	f.binds.observe = o.ObserveLag
	f.addKinds(&o, clients)
	return f, nil
}

// NewWithoutWatches returns a feed for a simulation that plays the part of the watches: it calls the methods of Stores
// instead of Run. The configuration in the options is not used.
func NewWithoutWatches(o Options) *Feed {
	f := newFeed(o.Log)
	f.addKinds(&o, &clients{})
	return f
}

// Store receives the objects of one kind, as a reflector delivers them.
type Store struct {
	Kind   string // such as Pod
	Sample any    // an empty object of the kind
	cache.ReflectorStore
}

// Stores returns the stores of all watched kinds, in a fixed order.
func (f *Feed) Stores() []Store {
	stores := make([]Store, len(f.watches))
	for i, w := range f.watches {
		stores[i] = Store{Kind: w.kind, Sample: w.sample, ReflectorStore: w.store}
	}
	return stores
}

// addKinds adds the watches of all kinds.
func (f *Feed) addKinds(o *Options, clients *clients) {
	ours := func(p *corev1.Pod) bool { return slices.Contains(o.SchedulerNames, p.Spec.SchedulerName) }
	list := func(c cache.Getter, resource string) cache.ListerWatcher {
		return cache.NewListWatchFromClient(c, resource, "", fields.Everything())
	}
	f.addKindWatch("Node", list(clients.core, "nodes"), &corev1.Node{}, nodeSink(f))
	f.addKindWatch("Namespace", list(clients.core, "namespaces"), &corev1.Namespace{}, namespaceSink(f))
	f.addKindWatch("PriorityClass", list(clients.scheduling, "priorityclasses"), &schedulingv1.PriorityClass{}, priorityClassSink(f))
	f.addKindWatch("PodDisruptionBudget", list(clients.policy, "poddisruptionbudgets"), &policyv1.PodDisruptionBudget{}, budgetSink(f))
	f.addKindWatch("Queue", list(clients.ours, "queues"), &schedulingv1beta1.Queue{}, queueSink(f))
	f.addKindWatch("ResourceQuota", list(clients.core, "resourcequotas"), &corev1.ResourceQuota{}, quotaSink(f))
	f.addOptionalKindWatch("Account", list(clients.accounts, "accounts"), &accountv1alpha1.AccountList{}, &accountv1alpha1.Account{}, accountSink(f))
	f.addOptionalKindWatch("QOS", list(clients.accounts, "qoses"), &accountv1alpha1.QOSList{}, &accountv1alpha1.QOS{}, qosSink(f))
	f.addKindWatch("PodGroup", list(clients.ours, "podgroups"), &schedulingv1beta1.PodGroup{}, gangSink(f))
	f.addOptionalKindWatch("Numatopology", list(clients.nodeinfo, "numatopologies"), &nodeinfov1alpha1.NumatopologyList{}, &nodeinfov1alpha1.Numatopology{}, numaSink(f))
	f.addOptionalKindWatch("HyperNode", list(clients.topology, "hypernodes"), &topologyv1alpha1.HyperNodeList{}, &topologyv1alpha1.HyperNode{}, hyperNodeSink(f))
	f.addAttachable(clients, list, !o.NoCSI)
	f.addKindWatch("Pod", list(clients.core, "pods"), &corev1.Pod{}, podSink(f, ours))
}

func newFeed(log logr.Logger) *Feed {
	if log.GetSink() == nil {
		log = logr.Discard()
	}
	return &Feed{log: log, binds: newBindLag(nil), signal: make(chan struct{}, 1), synced: make(chan struct{})}
}

func (f *Feed) addKindWatch(kind string, source cache.ListerWatcher, sample any, store cache.ReflectorStore) {
	f.unsynced.Add(1)
	f.watches = append(f.watches, watch{kind: kind, source: source, sample: sample, store: store})
}

// addOptionalKindWatch adds the watch of a kind that some clusters do not serve. empty is an empty list of the kind.
func (f *Feed) addOptionalKindWatch(kind string, source cache.ListerWatcher, empty runtime.Object, sample any, store cache.ReflectorStore) {
	f.addKindWatch(kind, optionalSource(f.log.WithValues("kind", kind), source, empty), sample, store)
}

// Run watches until ctx is done.
func (f *Feed) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, w := range f.watches {
		log := f.log.WithValues("kind", w.kind)
		r := cache.NewReflectorWithOptions(w.source, w.sample, w.store, cache.ReflectorOptions{
			Name: "scheduler/" + w.kind, Logger: &log, Backoff: RelistBackoff(),
		})
		running.Go(func() { r.RunWithContext(ctx) })
	}
	running.Wait()
}

// Synced returns a channel that is closed when every kind has been listed once.
func (f *Feed) Synced() <-chan struct{} { return f.synced }

// Signal returns a channel that contains a token while deltas may be waiting.
func (f *Feed) Signal() <-chan struct{} { return f.signal }

// Put queues deltas from another source, such as failed writes.
func (f *Feed) Put(deltas ...model.Delta) {
	if len(deltas) == 0 {
		return
	}
	f.mu.Lock()
	if len(f.inbox) == 0 {
		f.inboxSince = time.Now()
	}
	f.inbox = append(f.inbox, deltas...)
	f.mu.Unlock()
	select {
	case f.signal <- struct{}{}:
	default:
	}
}

// Drain returns all queued deltas in order. The spare slice becomes the next inbox, so that two slices alternate.
func (f *Feed) Drain(spare []model.Delta) []model.Delta {
	clear(spare[:cap(spare)])
	f.mu.Lock()
	defer f.mu.Unlock()
	deltas := f.inbox
	f.inbox = spare[:0]
	f.drainedSince, f.inboxSince = f.inboxSince, time.Time{}
	return deltas
}

// DrainedSince returns when the oldest of the deltas that Drain last returned had arrived. It returns the zero time if
// Drain returned none.
func (f *Feed) DrainedSince() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drainedSince
}

func (f *Feed) markKindSynced() {
	if f.unsynced.Add(-1) == 0 {
		close(f.synced)
	}
}

// String returns the names of the watched kinds, for logs.
func (f *Feed) String() string {
	kinds := make([]string, len(f.watches))
	for i, w := range f.watches {
		kinds[i] = w.kind
	}
	return fmt.Sprintf("feed of %v", kinds)
}
