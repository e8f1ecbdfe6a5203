package joblist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// informers is a manager's cache of jobs, PodGroups and pods, each filled from a source.
type informers struct {
	cache.Cache
	by map[string]toolscache.SharedIndexInformer
}

func (i informers) GetInformer(_ context.Context, of client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	informer, ok := i.by[fmt.Sprintf("%T", of)]
	if !ok {
		return nil, fmt.Errorf("no cache of %T", of)
	}
	return informer, nil
}

// filled returns a cache that contains a job with this name, until ctx ends.
func filled(ctx context.Context, job string) informers {
	all := informers{by: map[string]toolscache.SharedIndexInformer{}}
	for _, of := range []client.Object{&batchv1alpha1.Job{}, &schedulingv1beta1.PodGroup{}, &corev1.Pod{}} {
		source := cachetesting.NewFakeControllerSource()
		if _, ok := of.(*batchv1alpha1.Job); ok {
			source.Add(&batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: job, UID: types.UID(job)}})
		}
		informer := toolscache.NewSharedIndexInformer(source, of, 0, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
		go informer.Run(ctx.Done())
		context.AfterFunc(ctx, source.Shutdown)
		all.by[fmt.Sprintf("%T", of)] = informer
	}
	return all
}

// TestASourceIsUsedWhileItsManagerLeads verifies that lists are read from the cache of the leader, from when it is
// filled until it is no longer the leader.
func TestASourceIsUsedWhileItsManagerLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running, stop := context.WithCancel(t.Context())
		defer stop()
		api := newWorld()
		api.write("nlp", "any", "q")
		s := &Source{}
		check := func(when, want string) {
			t.Helper()
			var stream bytes.Buffer
			got, err := "", s.list(t.Context(), jobsummary.Query{}, &stream)
			if err == nil {
				entry, wrong := jobsummary.NewReader(&stream).Next()
				if wrong != nil {
					t.Fatal(wrong)
				}
				got = entry.Job.Name
			} else if !errors.Is(err, errNoCache) {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		check("before anybody leads", "")
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		defer endFirst()
		defer endSecond()
		if err := s.ServeFromCache(first, filled(running, "a"), api); err != nil {
			t.Fatal(err)
		}
		if known := s.caches.follower.changeCount(); known != 1 {
			t.Errorf("%d jobs are known when the cache is used, want 1", known)
		}
		check("the first", "a")
		if err := s.ServeFromCache(second, filled(running, "b"), api); err != nil {
			t.Fatal(err)
		}
		endFirst()
		synctest.Wait()
		check("the second, when the first has ended", "b")
		endSecond()
		synctest.Wait()
		check("when nobody leads any more", "")
	})
}

func TestACacheThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	if err := (&Source{}).ServeFromCache(t.Context(), informers{}, newWorld()); err == nil {
		t.Error("it is used")
	}
}
