package controllers

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

var refused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}

// TestCachesSeeAgainSoonAfterTheAPIServerIsBack uses the informers of the manager, and a server that is unavailable
// until client-go alone would have reached its longest pauses.
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
					// forces the fallback to list and watch
					return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
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
		options, err := CacheOptions(nil, false)
		if err != nil {
			t.Fatal(err)
		}
		informer := options.NewInformer(source, &corev1.Pod{}, 0, toolscache.Indexers{})
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

func TestOtherErrorsAreReturnedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, forbidden := time.Now(), apierrors.NewForbidden(schema.GroupResource{}, "", nil)
		_, err := retryUntilReached(t.Context(), &retrier{}, func() (int, error) { return 0, forbidden })
		if waited := time.Since(began); waited > 0 || !errors.Is(err, forbidden) {
			t.Errorf("waited %v, %v", waited, err)
		}
	})
}

// TestOutageIsLoggedOnce verifies that it is logged when the first source starts to wait, and when the last one
// continues.
func TestOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		}, funcr.Options{}))
		p, began := &retrier{}, time.Now()
		var sources sync.WaitGroup
		for i := range 8 {
			sources.Go(func() {
				_, err := retryUntilReached(ctx, p, func() (int, error) {
					if time.Since(began) < time.Minute+time.Duration(i)*time.Second {
						return 0, refused
					}
					return 0, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		sources.Wait()
		if len(lines) != 2 || !strings.Contains(lines[0], "is unreachable") || !strings.Contains(lines[0], "connection refused") || !strings.Contains(lines[1], "is reachable again") {
			t.Errorf("told:\n%s", strings.Join(lines, "\n"))
		}
	})
}

// TestAServerThatNamesItsPauseGetsIt verifies that the pause is respected up to a limit.
func TestAServerThatNamesItsPauseGetsIt(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int]time.Duration{20: 20 * time.Second, 3600: maxServerPause} {
		synctest.Test(t, func(t *testing.T) {
			began, busy := time.Now(), true
			_, _ = retryUntilReached(t.Context(), &retrier{}, func() (int, error) {
				if busy {
					busy = false
					return 0, apierrors.NewTooManyRequests("later", asked)
				}
				return 0, nil
			})
			if waited := time.Since(began); waited != want {
				t.Errorf("asked for %d s, waited %s", asked, waited)
			}
		})
	}
}
