package controllers

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

var refused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}

// TestCachesSeeAgainSoonAfterTheAPIServerIsBack: the informers as the manager makes them, and a server that is away for so long that client-go alone
// would come to its longest pauses.
func TestCachesSeeAgainSoonAfterTheAPIServerIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone, lists := false, 0
		broken := make(chan struct{})
		source := &toolscache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				if gone {
					return nil, refused
				}
				lists++
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				if o.SendInitialEvents != nil {
					return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil) // the older way
				}
				if gone {
					return nil, refused
				}
				w := watch.NewFake()
				ends := broken
				go func() {
					select {
					case <-ends:
					case <-ctx.Done():
					}
					w.Stop()
				}()
				return w, nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		informer := CacheOptions().NewInformer(source, &corev1.Pod{}, 0, toolscache.Indexers{})
		go informer.RunWithContext(ctx)
		synctest.Wait()
		if lists != 1 {
			t.Fatalf("%d lists", lists)
		}
		gone = true
		close(broken)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		watching := make(chan struct{})
		old := source.WatchFuncWithContext
		source.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := old(ctx, o)
			if err == nil {
				close(watching)
			}
			return w, err
		}
		broken, gone = make(chan struct{}), false
		back := time.Now()
		<-watching
		if took := time.Since(back); took > 6*time.Second {
			t.Errorf("it sees again after %s", took)
		}
		cancel()
		synctest.Wait()
	})
}

func TestOnlyWhoIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		away bool
	}{
		"nobody listens":                {refused, true},
		"it is starting":                {apierrors.NewServiceUnavailable("starting"), true},
		"it has too much to do":         {apierrors.NewTooManyRequests("later", 1), true},
		"the version is too old":        {apierrors.NewResourceExpired("gone"), false},
		"we may not":                    {apierrors.NewForbidden(schema.GroupResource{}, "", nil), false},
		"something that nobody foresaw": {errors.New("odd"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				_, err := untilReached(ctx, func() (int, error) { return 0, test.err })
				if waited := time.Since(began) > 0; waited != test.away || !errors.Is(err, test.err) {
					t.Errorf("waited %v, %v", time.Since(began), err)
				}
			})
		})
	}
}
