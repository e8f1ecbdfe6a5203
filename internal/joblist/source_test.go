package joblist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// world is an API server with jobs, and a cache that receives changes on request.
type world struct {
	client.Reader
	version int
	there   map[types.NamespacedName]*batchv1alpha1.Job
	caches  *caches
	asked   func() // called when the number of jobs is requested from the API server
	entries int    // number of entries in the last list
	fail    error
}

func newWorld() *world {
	index := func() toolscache.Indexer {
		return toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
	}
	w := &world{version: 100, there: map[types.NamespacedName]*batchv1alpha1.Job{}, asked: func() {}}
	w.caches = &caches{api: w, jobs: index(), groups: index(), pods: index(), follower: newFollower(), written: map[types.UID]part{}}
	return w
}

// List returns the number of jobs.
func (w *world) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	w.asked()
	o := (&client.ListOptions{}).ApplyOptions(options)
	if o.Limit != 1 {
		return fmt.Errorf("all jobs are read")
	}
	n := int64(0)
	for name := range w.there {
		if o.Namespace == "" || o.Namespace == name.Namespace {
			n++
		}
	}
	found := list.(*metav1.PartialObjectMetadataList)
	w.version++ // another client writes, too
	found.ResourceVersion = fmt.Sprint(w.version)
	if n > 0 {
		found.Items = make([]metav1.PartialObjectMetadata, 1)
	}
	if n > 1 {
		found.RemainingItemCount = new(n - 1)
	}
	return w.fail
}

// write creates or updates a job. The cache receives the change when learn is called.
func (w *world) write(namespace, name, queue string) (learn func()) {
	w.version++
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: fmt.Sprint(w.version)}, Spec: batchv1alpha1.JobSpec{Queue: queue}}
	old := w.there[client.ObjectKeyFromObject(job)]
	w.there[client.ObjectKeyFromObject(job)] = job
	return func() {
		_ = w.caches.jobs.Add(job)
		if old == nil {
			w.caches.follower.eventHandler().OnAdd(job, false)
		} else {
			w.caches.follower.eventHandler().OnUpdate(old, job)
		}
	}
}

func (w *world) remove(namespace, name string) (learn func()) {
	w.version++
	key := types.NamespacedName{Namespace: namespace, Name: name}
	job := w.there[key]
	delete(w.there, key)
	return func() {
		_ = w.caches.jobs.Delete(job)
		w.caches.follower.eventHandler().OnDelete(toolscache.DeletedFinalStateUnknown{Obj: job})
	}
}

// list returns the content of a namespace's list: names with queues, where a later entry replaces an earlier one.
func (w *world) list(t *testing.T, namespace string) ([]string, error) {
	t.Helper()
	var stream bytes.Buffer
	if err := (&Source{caches: w.caches}).list(t.Context(), jobsummary.Query{Namespace: namespace, Pods: true}, &stream); err != nil {
		return nil, err
	}
	jobs := map[string]string{}
	w.entries = 0
	for r := jobsummary.NewReader(&stream); ; w.entries++ {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		jobs[entry.Job.Name] = entry.Job.Spec.Queue
	}
	var all []string
	for name, queue := range jobs {
		all = append(all, name+" in "+queue)
	}
	slices.Sort(all)
	return all, nil
}

func TestAJobThatWasMadeBeforeTheRequestIsInTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.write("nlp", "a", "q")()
		w.write("bio", "c", "q")()
		learn := w.write("nlp", "b", "q")
		w.asked = func() { go func() { time.Sleep(time.Second); learn() }() }
		if all, err := w.list(t, "nlp"); err != nil || !slices.Equal(all, []string{"a in q", "b in q"}) {
			t.Errorf("%v, %v", all, err)
		}
	})
}

func TestAJobThatWasRemovedBeforeTheRequestIsNotInTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.write("nlp", "a", "q")()
		w.write("nlp", "b", "q")()
		learn := w.remove("nlp", "a")
		w.asked = func() { go func() { time.Sleep(time.Second); learn() }() }
		if all, err := w.list(t, "nlp"); !errors.Is(err, errGone) {
			t.Errorf("%v, %v", all, err)
		}
	})
}

func TestAsManyJobsAsThereAreAreNotAllWhileMoreComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.write("nlp", "a", "q")()
		w.write("nlp", "old", "q")()
		late := []func(){w.write("nlp", "a", "other"), w.remove("nlp", "old"), w.write("nlp", "new", "q")}
		w.asked = func() {
			// the cache receives the changes one by one; before the last two, the number of jobs is final already
			go func() {
				for _, learn := range late {
					learn()
					time.Sleep(settled / 2)
				}
			}()
		}
		if all, err := w.list(t, "nlp"); !errors.Is(err, errGone) {
			t.Errorf("%v, %v: without new, or with old", all, err)
		}
	})
}

func TestChangesDuringAListAreSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.write("nlp", "a", "q")()
	w.write("nlp", "b", "q")()
	w.asked = func() { w.write("nlp", "a", "other")() }
	mark := w.caches.follower.changeCount()
	all, err := w.list(t, "")
	if err != nil || len(all) != 2 || w.caches.follower.changeCount() == mark || w.entries > 3 {
		t.Fatalf("%v in %d entries, %v", all, w.entries, err)
	}
	if all, err = w.list(t, ""); err != nil || !slices.Equal(all, []string{"a in other", "b in q"}) {
		t.Errorf("%v, %v", all, err)
	}
}

func TestACacheThatLagsBehindAnswersNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.write("nlp", "a", "q")()
		w.write("nlp", "b", "q") // the cache never receives this one
		began := time.Now()
		if all, err := w.list(t, ""); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != patience {
			t.Errorf("%v, %v after %s", all, err, time.Since(began))
		}
	})
}

// TestHowFarACacheHasCome verifies that a cache includes a write when it has received that or a later one, in any
// order, and that a version that is not a number proves nothing.
func TestHowFarACacheHasCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		versions []string
		version  uint64
		there    bool
	}{
		"it knows this write":            {[]string{"7"}, 7, true},
		"a later one":                    {[]string{"9"}, 7, true},
		"one of before":                  {[]string{"6"}, 7, false},
		"a later one, and one of before": {[]string{"9", "5"}, 7, true},
		"what is no number":              {[]string{"newest"}, 7, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFollower()
			for i, version := range c.versions {
				f.recordChange(&batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: fmt.Sprint(i), ResourceVersion: version}}, 1)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := f.waitUntilCurrent(ctx, "nlp", 99, c.version); (err == nil) != c.there {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	f := newFollower()
	gone := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp"}}
	f.recordChange(gone, 1)
	f.recordChange(gone, -1)
	if _, kept := f.jobs["nlp"]; kept {
		t.Error("namespaces without jobs are kept for ever")
	}
}

func TestAnAPIServerThatDoesNotSayHowManyJobsThereAreIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.fail = errors.New("no")
	if _, err := w.list(t, ""); !errors.Is(err, w.fail) {
		t.Error(err)
	}
}

func TestJobsThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i := range 9 {
		w.write("nlp", fmt.Sprint(i), "q")()
	}
	for range 3 {
		if _, err := w.list(t, ""); err != nil || len(w.caches.written) != 9 {
			t.Fatalf("%d objects are kept, %v", len(w.caches.written), err)
		}
	}
	for i := range 8 {
		w.remove("nlp", fmt.Sprint(i))()
	}
	if all, err := w.list(t, ""); err != nil || len(all) != 1 || len(w.caches.written) > 2 {
		t.Errorf("%v, %d objects are kept, %v", all, len(w.caches.written), err)
	}
}

func TestArraysAreListedAloneWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.write("nlp", "plain", "q")()
	w.write("nlp", "sweep", "q")()
	w.there[types.NamespacedName{Namespace: "nlp", Name: "sweep"}].Annotations = map[string]string{keys.Array: "0-9"}
	var stream bytes.Buffer
	if err := (&Source{caches: w.caches}).list(t.Context(), jobsummary.Query{Arrays: true}, &stream); err != nil {
		t.Fatal(err)
	}
	r := jobsummary.NewReader(&stream)
	if entry, err := r.Next(); err != nil || entry.Job.Name != "sweep" {
		t.Errorf("%v, %v", entry.Job, err)
	}
	if entry, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v, %v", entry.Job, err)
	}
}

// TestTerminationMessagesAreSentAndNotStored verifies that termination messages are in the list but not cached, and
// that too many of them result in an error.
func TestTerminationMessagesAreSentAndNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.write("nlp", "a", "q")()
	report := `{"kind":"x"` + strings.Repeat(" ", 4000)
	say := func(pods int) {
		for i := range pods {
			name := fmt.Sprint("a-", i)
			ended := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: report}}}
			_ = w.caches.pods.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: name, UID: types.UID(name), Labels: map[string]string{keys.JobName: "a"}},
				Status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{ended}}})
		}
	}
	say(3)
	for _, ended := range []bool{true, false} {
		var stream bytes.Buffer
		if err := (&Source{caches: w.caches}).list(t.Context(), jobsummary.Query{Pods: true, Ended: ended}, &stream); err != nil {
			t.Fatal(err)
		}
		entry, err := jobsummary.NewReader(&stream).Next()
		if err != nil || ended != (len(entry.Pods) == 3) {
			t.Fatalf("ended %v: %+v, %v", ended, entry, err)
		}
		for _, pod := range entry.Pods {
			if pod.Status.ContainerStatuses[0].State.Terminated.Message != report {
				t.Errorf("%s is told to have said %q", pod.Name, pod.Status.ContainerStatuses[0].State.Terminated.Message)
			}
		}
	}
	for uid, part := range w.caches.written {
		if len(part.text) > 1000 {
			t.Errorf("%d bytes of %s are kept", len(part.text), uid)
		}
	}
	say(mostReports/len(report) + 1)
	if err := (&Source{caches: w.caches}).list(t.Context(), jobsummary.Query{Pods: true, Ended: true}, io.Discard); !errors.Is(err, errTooMuch) {
		t.Errorf("more than there is room for: %v", err)
	}
	if err := (&Source{caches: w.caches}).list(t.Context(), jobsummary.Query{Pods: true}, io.Discard); err != nil {
		t.Errorf("without those that have ended: %v", err)
	}
}

func TestWithoutACacheThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	if err := (&Source{}).list(t.Context(), jobsummary.Query{}, io.Discard); !errors.Is(err, errNoCache) {
		t.Error(err)
	}
}
