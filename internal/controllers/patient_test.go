package controllers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
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
		options, err := CacheOptions(nil)
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

func TestOnlyWhoIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	// asked returns an error in the form that client-go returns.
	asked := func(err error) error { return &url.Error{Op: "Get", URL: "https://api:6443/apis", Err: err} }
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
		"nobody listens, asked by HTTP": {asked(refused), true},
		"it hangs up":                   {asked(io.EOF), true},
		"it takes its leave":            {asked(errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=7")), true},
		"it says nothing more":          {asked(errors.New("http2: client connection lost")), true},
		"it does not answer in time":    {asked(context.DeadlineExceeded), true},
		"names are not to be had now":   {asked(&net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}), true},
		"there is no such name":         {asked(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), false},
		"its certificate is another's":  {asked(&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "api"}}), false},
		"nobody vouches for it":         {asked(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), false},
		"it does not know us":           {asked(&net.OpError{Op: "remote error", Err: tls.AlertError(42)}), false},
		"it speaks no TLS":              {asked(tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				_, err := retryUntilReached(ctx, &patience{}, func() (int, error) { return 0, test.err })
				if waited := time.Since(began) > 0; waited != test.away || !errors.Is(err, test.err) {
					t.Errorf("waited %v, %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestAnOutageIsToldOnce verifies that it is logged when the first source starts to wait, and when the last one
// continues.
func TestAnOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		}, funcr.Options{}))
		p, began := &patience{}, time.Now()
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
	for asked, want := range map[int]time.Duration{20: 20 * time.Second, 3600: longestAsked} {
		synctest.Test(t, func(t *testing.T) {
			began, busy := time.Now(), true
			_, _ = retryUntilReached(t.Context(), &patience{}, func() (int, error) {
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
