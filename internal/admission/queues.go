package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/apiclient"
)

// byParent is the name of the index of queues by their parent.
const byParent = "parent"

// liveReadTimeout is the timeout for a read from the API server while a request is waiting for the result.
const liveReadTimeout = 5 * time.Second

// queueWatch watches the queues, and reads single queues from the API server.
type queueWatch struct {
	client   rest.Interface
	informer cache.SharedIndexInformer
}

// queueIndexers are the indexes of the watched queues.
func queueIndexers() cache.Indexers { return cache.Indexers{byParent: parentIndexValue} }

// NewQueueIndexer returns an empty store for the watched queues.
func NewQueueIndexer() cache.Indexer {
	return cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, queueIndexers())
}

// removeManagedFields removes metadata that is not needed from a watched object.
func removeManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func newQueueWatch(config *rest.Config) (*queueWatch, error) {
	client, err := apiclient.NewGroupClient(config, schedulingv1beta1.GroupVersion, schedulingv1beta1.AddToScheme)
	if err != nil {
		return nil, err
	}
	watch := cache.NewListWatchFromClient(client, "queues", metav1.NamespaceAll, fields.Everything())
	informer := cache.NewSharedIndexInformer(watch, &schedulingv1beta1.Queue{}, 0, queueIndexers())
	if err := informer.SetTransform(removeManagedFields); err != nil {
		return nil, fmt.Errorf("admission: queues: %w", err)
	}
	return &queueWatch{client: client, informer: informer}, nil
}

// parentIndexValue returns the index value of a queue, which is its parent.
func parentIndexValue(object any) ([]string, error) {
	if queue, ok := object.(*schedulingv1beta1.Queue); ok && queue.ParentName() != "" {
		return []string{queue.ParentName()}, nil
	}
	return nil, nil
}

// readLiveQueue returns a queue from the API server, or nil if it does not exist.
func (c *queueWatch) readLiveQueue(ctx context.Context, name string) (*schedulingv1beta1.Queue, error) {
	queue := &schedulingv1beta1.Queue{}
	err := c.client.Get().Resource("queues").Name(name).Do(ctx).Into(queue)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("queue %q: %w", name, err)
	}
	return queue, nil
}

// listLiveQueues returns all queues from the API server.
func (c *queueWatch) listLiveQueues(ctx context.Context) ([]schedulingv1beta1.Queue, error) {
	list := &schedulingv1beta1.QueueList{}
	if err := c.client.Get().Resource("queues").Do(ctx).Into(list); err != nil {
		return nil, fmt.Errorf("queues: %w", err)
	}
	return list.Items, nil
}

// queueCache holds the watched queues. It reads queues that are not in the cache yet from the API server.
type queueCache struct {
	known cache.Indexer
	read  func(ctx context.Context, name string) (*schedulingv1beta1.Queue, error)
	list  func(ctx context.Context) ([]schedulingv1beta1.Queue, error) // nil: see Cluster.ListQueues
}

// lookup returns the queues for one request.
func (c queueCache) lookup(ctx context.Context) *queueLookup {
	return &queueLookup{
		known: c.known,
		live:  map[string]*schedulingv1beta1.Queue{},
		read: func(name string) (*schedulingv1beta1.Queue, error) {
			ctx, cancel := context.WithTimeout(ctx, liveReadTimeout)
			defer cancel()
			return c.read(ctx, name)
		},
	}
}

// currentLookup is like lookup, but with the queues that the API server has now. A queue is compared with its relatives, and
// one manifest often changes several of them, so that the cache may still hold their earlier values.
func (c queueCache) currentLookup(ctx context.Context) *queueLookup {
	lookup := c.lookup(ctx)
	if c.list == nil {
		return lookup
	}
	ctx, cancel := context.WithTimeout(ctx, liveReadTimeout)
	defer cancel()
	queues, err := c.list(ctx)
	if err != nil {
		lookup.err = err
		return lookup
	}
	lookup.known = NewQueueIndexer()
	for i := range queues {
		if err := lookup.known.Add(&queues[i]); err != nil {
			lookup.err = errors.Join(lookup.err, err)
		}
	}
	return lookup
}

// queueLookup looks up queues for one request. It is not safe for concurrent use. A queue that is missing in the cache,
// or not open there, is read from the API server before a request is rejected, because one manifest often creates a
// queue and a job for it.
type queueLookup struct {
	known cache.Indexer
	live  map[string]*schedulingv1beta1.Queue // nil for a queue that does not exist
	read  func(name string) (*schedulingv1beta1.Queue, error)
	err   error // error from a read; if it is set, the results are not reliable
	// sure makes Children omit queues that no longer exist in the API server. This is useful because a whole tree of
	// queues is often deleted at once, from the leaves upward, and the watch lags behind.
	sure bool
}

var _ schedulingv1beta1.QueueLookup = (*queueLookup)(nil)

func (l *queueLookup) Queue(name string) (*schedulingv1beta1.Queue, bool) {
	if object, ok, err := l.known.GetByKey(name); err == nil && ok {
		if queue, ok := object.(*schedulingv1beta1.Queue); ok && queue.IsOpen() {
			return queue, true
		}
	}
	queue, asked := l.live[name]
	if !asked {
		var err error
		if queue, err = l.read(name); err != nil {
			l.err = err
		}
		l.live[name] = queue
	}
	return queue, queue != nil
}

func (l *queueLookup) Children(name string) []string {
	children, err := l.known.IndexKeys(byParent, name)
	if err != nil {
		return nil
	}
	slices.Sort(children)
	for l.sure && len(children) > 0 && !l.isStillChild(children[0], name) {
		children = children[1:] // one existing child is sufficient; the others need no check
	}
	return children
}

// isStillChild reports whether the API server has a queue with this parent. It returns true if the read fails.
func (l *queueLookup) isStillChild(name, parent string) bool {
	queue, err := l.read(name)
	if err != nil {
		l.err = err
		return true
	}
	return queue != nil && queue.ParentName() == parent
}

func (l *queueLookup) Queues() []*schedulingv1beta1.Queue {
	objects := l.known.List()
	queues := make([]*schedulingv1beta1.Queue, 0, len(objects))
	for _, object := range objects {
		if queue, ok := object.(*schedulingv1beta1.Queue); ok {
			queues = append(queues, queue)
		}
	}
	return queues
}
