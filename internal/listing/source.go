package listing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/listing/facts"
)

// patience is how long a cache that lags behind is waited for.
const patience = 5 * time.Second

// mostSaid is how many bytes of what containers said at their end are in one list: they may be 4 KiB of each.
const mostSaid = 8 << 20

// errTooMuch says that a list would take too much memory.
var errTooMuch = fmt.Errorf("what pods said at their end is more than %d MiB", mostSaid>>20)

// errGone says that a job that was told is there no more.
var errGone = errors.New("a job went while the list was under way")

// errNoCache says that nothing is in memory here.
var errNoCache = errors.New("nothing is in memory here yet")

// Source is where jobs are read from: the caches of whoever has some. The zero value has none.
type Source struct {
	mu     sync.Mutex
	caches *caches
}

// caches are those of one manager.
type caches struct {
	api                client.Reader // past them
	jobs, groups, pods toolscache.Indexer
	follower           *follower

	mu      sync.Mutex
	written map[types.UID]part // what was written of objects the last time
}

// part is what one object fills of an entry.
type part struct {
	version string
	text    []byte
}

// Use reads from a cache from when it has been filled until ctx ends; api reads past it. It returns when the cache is used.
func (s *Source) Use(ctx context.Context, from cache.Cache, api client.Reader) error {
	c := &caches{api: api, follower: newFollower(), written: map[types.UID]part{}}
	for object, into := range map[client.Object]*toolscache.Indexer{&batch.Job{}: &c.jobs, &scheduling.PodGroup{}: &c.groups, &corev1.Pod{}: &c.pods} {
		informer, err := from.GetInformer(ctx, object)
		if err != nil {
			return fmt.Errorf("cache of %T: %w", object, err)
		}
		shared, ok := informer.(toolscache.SharedIndexInformer)
		if !ok {
			return fmt.Errorf("cache of %T: a %T has no index", object, informer)
		}
		*into = shared.GetIndexer()
		if into == &c.jobs {
			handle, err := shared.AddEventHandler(c.follower.handler())
			if err != nil {
				return fmt.Errorf("cache of %T: %w", object, err)
			}
			defer toolscache.WaitForCacheSync(ctx.Done(), handle.HasSynced)
		}
	}
	s.mu.Lock()
	s.caches = c
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.caches == c {
			s.caches = nil
		}
	})
	return nil
}

// list writes the stream that answers a query, as of when it was asked or later. Whether the cache is as new as that is asked of the API server while the
// stream is under way: what it did not know yet comes after the rest. After an error the stream is to be cut off.
func (s *Source) list(ctx context.Context, q facts.Query, to io.Writer) error {
	s.mu.Lock()
	c := s.caches
	s.mu.Unlock()
	if c == nil {
		return errNoCache
	}
	caughtUp := make(chan error, 1)
	go func() { caughtUp <- c.catchUp(ctx, q.Namespace) }()
	mark := c.follower.mark()
	w := &writer{caches: c, told: map[types.UID]string{}}
	stream, err := w.stream(q)
	if err != nil {
		return err
	}
	if _, err := to.Write(stream); err != nil {
		return err
	}
	if err := <-caughtUp; err != nil {
		return err
	}
	stream = nil
	if c.follower.mark() != mark {
		if !w.stands(q.Namespace) { // what was told cannot be taken back
			return errGone
		}
		if stream, err = w.stream(q); err != nil {
			return err
		}
	}
	_, err = to.Write(facts.AppendEnd(stream, w.entries))
	return err
}

// catchUp waits until the cache knows the jobs that there are now.
func (c *caches) catchUp(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now := &metav1.PartialObjectMetadataList{}
	now.SetGroupVersionKind(batch.GroupVersion.WithKind("JobList"))
	if err := c.api.List(ctx, now, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return fmt.Errorf("how many jobs there are: %w", err)
	}
	jobs := len(now.Items)
	if more := now.RemainingItemCount; more != nil {
		jobs += int(*more)
	}
	if err := c.follower.wait(ctx, namespace, jobs, versionOf(now.ResourceVersion)); err != nil {
		return fmt.Errorf("the cache of jobs lags behind: %w", err)
	}
	return nil
}

// of lists what an index holds of a namespace, or all of it.
func of[T any](index toolscache.Indexer, namespace string) ([]T, error) {
	objects := []any(nil)
	var err error
	if namespace == "" {
		objects = index.List()
	} else if objects, err = index.ByIndex(toolscache.NamespaceIndex, namespace); err != nil {
		return nil, err
	}
	all := make([]T, 0, len(objects))
	for _, o := range objects {
		if t, ok := o.(T); ok {
			all = append(all, t)
		}
	}
	return all, nil
}

// writer writes one list.
type writer struct {
	*caches
	fresh   map[types.UID]part
	told    map[types.UID]string // versions of jobs that are in the list
	entries int
	said    int // bytes
	parts   [][]byte
	err     error
}

// stream is the entries of a query, without those that are in the list as they are.
func (w *writer) stream(q facts.Query) ([]byte, error) {
	jobs, err := of[*batch.Job](w.jobs, q.Namespace)
	if err != nil {
		return nil, err
	}
	jobs = slices.DeleteFunc(jobs, func(job *batch.Job) bool {
		return w.told[job.UID] == job.ResourceVersion || q.Arrays && job.Annotations[keys.Array] == ""
	})
	groups, err := of[*scheduling.PodGroup](w.groups, q.Namespace)
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	if q.Pods {
		if pods, err = of[*corev1.Pod](w.pods, q.Namespace); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh = make(map[types.UID]part, len(w.written))
	var stream []byte
	for _, entry := range facts.Join(q, jobs, groups, pods) {
		w.parts = append(w.parts[:0], write(w, entry.Job, facts.Job))
		if entry.Group != nil {
			w.parts = append(w.parts, write(w, entry.Group, facts.Group))
		}
		for _, pod := range entry.Pods {
			said := facts.Said(pod) // it is not kept, for it is as long as all the rest
			w.parts = append(w.parts, write(w, pod, facts.Pod), said)
			if w.said += len(said); w.said > mostSaid && w.err == nil {
				w.err = errTooMuch
			}
		}
		if w.err != nil {
			return nil, w.err
		}
		stream = facts.AppendEntry(stream, w.parts...)
		w.told[entry.Job.UID] = entry.Job.ResourceVersion
		w.entries++
	}
	w.keep()
	return stream, nil
}

// stands says whether all jobs that were told are still there.
func (w *writer) stands(namespace string) bool {
	jobs, err := of[*batch.Job](w.jobs, namespace)
	there := 0
	for _, job := range jobs {
		if _, told := w.told[job.UID]; told {
			there++
		}
	}
	return err == nil && there == len(w.told)
}

// keep remembers what was written; when half of it or more may be of objects that are gone, only what was written now.
func (w *writer) keep() {
	there := len(w.jobs.ListKeys()) + len(w.groups.ListKeys()) + len(w.pods.ListKeys())
	if len(w.written) > 2*there {
		w.written = map[types.UID]part{}
	}
	maps.Copy(w.written, w.fresh)
}

func write[T client.Object](w *writer, object T, encode func(T) ([]byte, error)) []byte {
	uid := object.GetUID()
	have, ok := w.written[uid]
	if !ok || have.version != object.GetResourceVersion() {
		text, err := encode(object)
		if err != nil {
			w.err = err
		}
		have = part{version: object.GetResourceVersion(), text: text}
		w.fresh[uid] = have
	}
	return have.text
}
