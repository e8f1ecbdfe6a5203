package joblist

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

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// patience is how long to wait for a cache that lags behind.
const patience = 5 * time.Second

// mostReports is the maximum number of bytes of termination messages in one list. A single container may have 4 KiB.
const mostReports = 8 << 20

// errTooMuch means that a list would need too much memory.
var errTooMuch = fmt.Errorf("the termination messages of pods exceed %d MiB", mostReports>>20)

// errGone means that a job in the list was deleted.
var errGone = errors.New("a job was deleted while the list was being written")

// errNoCache means that this process has no cache.
var errNoCache = errors.New("the cache of jobs is not ready yet")

// Source reads jobs from the caches of a manager. The zero value has no caches.
type Source struct {
	mu     sync.Mutex
	caches *caches
}

// caches holds the caches of one manager.
type caches struct {
	api                client.Reader // reads directly from the API server
	jobs, groups, pods toolscache.Indexer
	follower           *follower

	mu      sync.Mutex
	written map[types.UID]part // encoded parts from the last list
}

// part is the encoded form of one object.
type part struct {
	version string
	text    []byte
}

// ServeFromCache makes the source read from a cache, from the time when the cache is filled until ctx is done. api
// reads without the cache. ServeFromCache returns when the cache is in use.
func (s *Source) ServeFromCache(ctx context.Context, from cache.Cache, api client.Reader) error {
	c := &caches{api: api, follower: newFollower(), written: map[types.UID]part{}}
	for object, into := range map[client.Object]*toolscache.Indexer{&batchv1alpha1.Job{}: &c.jobs, &schedulingv1beta1.PodGroup{}: &c.groups, &corev1.Pod{}: &c.pods} {
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
			handle, err := shared.AddEventHandler(c.follower.eventHandler())
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

// list writes the response to a query. The response reflects the state at the time of the request or later: while it
// writes, list asks the API server whether the cache is recent enough, and appends the jobs that have arrived in the
// meantime. If list returns an error, the caller must abort the stream.
func (s *Source) list(ctx context.Context, q jobsummary.Query, to io.Writer) error {
	s.mu.Lock()
	c := s.caches
	s.mu.Unlock()
	if c == nil {
		return errNoCache
	}
	caughtUp := make(chan error, 1)
	go func() { caughtUp <- c.waitUntilCurrent(ctx, q.Namespace) }()
	mark := c.follower.changeCount()
	w := &writer{caches: c, listed: map[types.UID]string{}}
	stream, err := w.encodeEntries(q)
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
	if c.follower.changeCount() != mark {
		if !w.stillExist(q.Namespace) { // written entries cannot be removed
			return errGone
		}
		if stream, err = w.encodeEntries(q); err != nil {
			return err
		}
	}
	_, err = to.Write(jobsummary.AppendEnd(stream, w.entries))
	return err
}

// waitUntilCurrent waits until the cache contains the jobs that exist now.
func (c *caches) waitUntilCurrent(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now := &metav1.PartialObjectMetadataList{}
	now.SetGroupVersionKind(batchv1alpha1.GroupVersion.WithKind("JobList"))
	if err := c.api.List(ctx, now, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return fmt.Errorf("counting the jobs: %w", err)
	}
	jobs := len(now.Items)
	if more := now.RemainingItemCount; more != nil {
		jobs += int(*more)
	}
	if err := c.follower.waitUntilCurrent(ctx, namespace, jobs, resourceVersionNumber(now.ResourceVersion)); err != nil {
		return fmt.Errorf("the cache of jobs lags behind the API server: %w", err)
	}
	return nil
}

// objectsInNamespace returns the objects in an index that belong to a namespace, or all objects if the namespace is "".
func objectsInNamespace[T any](index toolscache.Indexer, namespace string) ([]T, error) {
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
	listed  map[types.UID]string // versions of the jobs in the list
	entries int
	reports int // bytes
	parts   [][]byte
	err     error
}

// encodeEntries encodes the entries of a query, except jobs that the list already contains in the same version.
func (w *writer) encodeEntries(q jobsummary.Query) ([]byte, error) {
	jobs, err := objectsInNamespace[*batchv1alpha1.Job](w.jobs, q.Namespace)
	if err != nil {
		return nil, err
	}
	jobs = slices.DeleteFunc(jobs, func(job *batchv1alpha1.Job) bool {
		return w.listed[job.UID] == job.ResourceVersion || (q.Arrays && job.Annotations[keys.Array] == "")
	})
	groups, err := objectsInNamespace[*schedulingv1beta1.PodGroup](w.groups, q.Namespace)
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	if q.Pods {
		if pods, err = objectsInNamespace[*corev1.Pod](w.pods, q.Namespace); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh = make(map[types.UID]part, len(w.written))
	var stream []byte
	for _, entry := range jobsummary.JoinEntries(q, jobs, groups, pods) {
		w.parts = append(w.parts[:0], encodeCached(w, entry.Job, jobsummary.EncodeJobFields))
		if entry.Group != nil {
			w.parts = append(w.parts, encodeCached(w, entry.Group, jobsummary.EncodeGroupFields))
		}
		for _, pod := range entry.Pods {
			w.parts = append(w.parts, w.encodePod(pod))
		}
		if w.err != nil {
			return nil, w.err
		}
		stream = jobsummary.AppendEntry(stream, w.parts...)
		w.listed[entry.Job.UID] = entry.Job.ResourceVersion
		w.entries++
	}
	w.storeParts()
	return stream, nil
}

// stillExist reports whether all jobs in the list still exist.
func (w *writer) stillExist(namespace string) bool {
	jobs, err := objectsInNamespace[*batchv1alpha1.Job](w.jobs, namespace)
	there := 0
	for _, job := range jobs {
		if _, listed := w.listed[job.UID]; listed {
			there++
		}
	}
	return err == nil && there == len(w.listed)
}

// storeParts stores the encoded parts. If at least half of the stored parts may belong to deleted objects, it drops all
// except the current ones.
func (w *writer) storeParts() {
	there := len(w.jobs.ListKeys()) + len(w.groups.ListKeys()) + len(w.pods.ListKeys())
	if len(w.written) > 2*there {
		w.written = map[types.UID]part{}
	}
	maps.Copy(w.written, w.fresh)
}

// encodePod encodes a pod. It does not cache a pod with reports, because they may be as long as all other parts.
func (w *writer) encodePod(pod *corev1.Pod) []byte {
	size := jobsummary.ReportBytes(pod)
	if size == 0 {
		return encodeCached(w, pod, jobsummary.EncodePodFields)
	}
	text, err := jobsummary.EncodePodFields(pod)
	if w.reports += size; err == nil && w.reports > mostReports {
		err = errTooMuch
	}
	w.keepFirstError(err)
	return text
}

func encodeCached[T client.Object](w *writer, object T, encode func(T) ([]byte, error)) []byte {
	uid := object.GetUID()
	have, ok := w.written[uid]
	if !ok || have.version != object.GetResourceVersion() {
		text, err := encode(object)
		w.keepFirstError(err)
		have = part{version: object.GetResourceVersion(), text: text}
		w.fresh[uid] = have
	}
	return have.text
}

// keepFirstError stores an error unless an earlier one is already stored.
func (w *writer) keepFirstError(err error) {
	if w.err == nil {
		w.err = err
	}
}
