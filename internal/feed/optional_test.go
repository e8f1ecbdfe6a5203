package feed

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/vc-batch/vc/internal/model"
)

// switchedSource is the source of device classes of an API server that may or may not serve them.
type switchedSource struct {
	served   atomic.Bool
	requests atomic.Int32
}

func (s *switchedSource) source() cache.ListerWatcher {
	missing := apierrors.NewNotFound(resourcev1.Resource("deviceclasses"), "")
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			s.requests.Add(1)
			if !s.served.Load() {
				return nil, missing
			}
			return &resourcev1.DeviceClassList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu", UID: "u"}}}}, nil
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			s.requests.Add(1)
			if !s.served.Load() {
				return nil, missing
			}
			if options.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(resourcev1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(), "", nil)
			}
			return apiwatch.NewFake(), nil
		},
	}
}

func TestKindThatIsNotServedAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		f := newFeed(funcr.New(func(_, line string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, line)
		}, funcr.Options{}))
		count := func(text string) (n int) {
			mu.Lock()
			defer mu.Unlock()
			for _, line := range log {
				if strings.Contains(line, text) {
					n++
				}
			}
			return n
		}
		source := &switchedSource{}
		f.addOptionalKindWatch("DeviceClass", source.source(), &resourcev1.DeviceClassList{}, &resourcev1.DeviceClass{}, objectSink[resourcev1.DeviceClass](f))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { f.Run(ctx); close(done) }()

		select {
		case <-f.Synced():
		case <-time.After(time.Minute):
			t.Fatal("the feed waits for a kind that is not served")
		}
		before := source.requests.Load()
		time.Sleep(10 * time.Minute)
		if n := source.requests.Load() - before; n > 120 {
			t.Errorf("%d requests in ten minutes for a missing kind", n)
		}
		if got := [...]int{count("does not serve this kind"), count("serves this kind now"), len(log)}; got != [...]int{1, 0, 1} {
			t.Errorf("the log must report the missing kind once and nothing else: %q", log)
		}

		source.served.Store(true)
		time.Sleep(optionalPause + time.Second)
		var names []string
		for _, d := range f.Drain(nil) {
			names = append(names, d.(model.ObjectSet).Object.GetName())
		}
		if diff := cmp.Diff([]string{"gpu"}, names); diff != "" {
			t.Errorf("objects after the kind is served (-want +got):\n%s", diff)
		}
		if count("serves this kind now") != 1 {
			t.Errorf("the log does not report that the kind is served: %q", log)
		}
		cancel()
		<-done
	})
}
