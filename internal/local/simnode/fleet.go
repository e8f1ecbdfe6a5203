package simnode

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Fleet serves all simulated nodes of a cluster. A cluster needs only one fleet; a second one would only repeat the
// writes.
type Fleet struct {
	config Config
	client kubernetes.Interface
	log    logr.Logger
	table  *PodTable
	roster *roster
	writer *writer
	events chan eventJob
	ready  chan struct{}
}

// eventJob is a queued report about invalid annotations.
type eventJob struct {
	pod      types.NamespacedName
	uid      types.UID
	problems []string
}

// New validates the configuration and creates a fleet. It does no I/O.
func New(config Config) (*Fleet, error) {
	if err := config.validateConfig(); err != nil {
		return nil, err
	}
	client, err := clientFromConfig(config)
	if err != nil {
		return nil, err
	}
	if config.Writers <= 0 {
		config.Writers = defaultWriters
	}
	f := &Fleet{
		config: config, client: client, log: config.Logger,
		events: make(chan eventJob, 1000), ready: make(chan struct{}),
	}
	f.table = NewPodTable(config.StartDelay, time.Now, f.queueReport)
	f.writer = &writer{client: client, table: f.table, log: f.log}
	f.roster = &roster{
		client: client, log: f.log, fallback: config.completeSpec(Spec{}),
		served: f.table.ServeNode, gone: f.table.StopServing,
		nodes: map[string]*member{},
	}
	return f, nil
}

func clientFromConfig(config Config) (kubernetes.Interface, error) {
	if config.Client != nil {
		return config.Client, nil
	}
	own := rest.CopyConfig(config.RESTConfig)
	own.QPS, own.RateLimiter = -1, nil
	own.ContentType = runtime.ContentTypeProtobuf
	own.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	own.UserAgent = component
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("simulated nodes: client: %w", err)
	}
	return client, nil
}

// Ready returns a channel that is closed when every node of the configuration exists, accepts pods, and is listed by
// Nodes.
func (f *Fleet) Ready() <-chan struct{} { return f.ready }

// ServedNodeNames returns the names of the nodes that the fleet currently serves, in no particular order.
func (f *Fleet) ServedNodeNames() []string { return f.roster.listNodeNames() }

// Add creates nodes with the fleet's defaults; see AddNodes.
func (f *Fleet) Add(ctx context.Context, specs ...Spec) error {
	complete := make([]Spec, len(specs))
	for i, spec := range specs {
		complete[i] = f.config.completeSpec(spec)
	}
	return AddNodes(ctx, f.client, nil, complete...)
}

// RemoveNodes deletes nodes and the pods on them; see the function RemoveNodes.
func (f *Fleet) RemoveNodes(ctx context.Context, names ...string) error {
	return RemoveNodes(ctx, f.client, names...)
}

// Run creates the configured nodes and serves all simulated nodes until ctx is done. The nodes remain in the API, and
// the next fleet continues to serve them.
func (f *Fleet) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel()
	start := func(part func(context.Context)) { parts.Go(func() { part(ctx) }) }

	nodes := newSynced(f.roster)
	start(func(ctx context.Context) { f.newReflector(nodes, &corev1.Node{}, f.nodeSource()).RunWithContext(ctx) })
	select { // sync nodes before pods, so that the nodes of all pods are already served
	case <-nodes.done:
	case <-ctx.Done():
		return nil
	}
	start(func(ctx context.Context) { f.newReflector(f.table, &corev1.Pod{}, f.podSource()).RunWithContext(ctx) })
	start(f.dispatchDuePods)
	start(f.roster.sendHeartbeats)
	start(f.sendReports)

	if err := AddNodes(ctx, f.client, f.config.Progress, f.config.completedSpecs()...); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	select { // a created node is in the roster only after the watch has delivered it
	case <-f.roster.awaitNodes(f.config.completedSpecs()):
		close(f.ready)
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil
}

func (f *Fleet) newReflector(store cache.ReflectorStore, kind runtime.Object, source *cache.ListWatch) *cache.Reflector {
	lw := cache.ToListWatcherWithWatchListSemantics(source, f.client)
	return cache.NewReflectorWithOptions(lw, kind, store, cache.ReflectorOptions{Logger: &f.log, Name: component})
}

// nodeSource watches only the simulated nodes.
func (f *Fleet) nodeSource() *cache.ListWatch {
	only := labels.Set{KindLabel: KindSimulated}.AsSelector().String()
	nodes := f.client.CoreV1().Nodes()
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = only
			return nodes.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = only
			return nodes.Watch(ctx, o)
		},
	}
}

// podSource watches all bound pods, because a selector cannot list thousands of nodes. Pods on other nodes cost only
// the time that it takes to decode them.
func (f *Fleet) podSource() *cache.ListWatch {
	const bound = "spec.nodeName!="
	pods := f.client.CoreV1().Pods(metav1.NamespaceAll)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = bound
			return pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = bound
			return pods.Watch(ctx, o)
		},
	}
}

// dispatchDuePods passes each pod that is due to a writer, up to Writers at the same time.
func (f *Fleet) dispatchDuePods(ctx context.Context) {
	var writers errgroup.Group
	writers.SetLimit(f.config.Writers)
	defer func() { _ = writers.Wait() }()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		pod, wait := f.table.TakeDuePod()
		if pod != nil {
			writers.Go(func() error { f.writer.performStep(ctx, pod); return nil })
			continue
		}
		if wait < 0 {
			wait = time.Hour
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-f.table.Wake():
		case <-timer.C:
		}
	}
}

// queueReport queues a report for sendReports. If the queue is full, it only logs the report.
func (f *Fleet) queueReport(pod types.NamespacedName, uid types.UID, problems []string) {
	select {
	case f.events <- eventJob{pod: pod, uid: uid, problems: problems}:
	default:
		f.log.Error(errors.New("too many pending events"), "Dropped an event of a simulated pod", "pod", pod)
	}
}

func (f *Fleet) sendReports(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-f.events:
			f.writer.reportProblems(ctx, job.pod, job.uid, job.problems)
		}
	}
}
