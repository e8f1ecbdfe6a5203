package daemon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/vc-batch/vc/internal/daemon/leaderfence"
)

// slowLock is a lock whose responses arrive after a pause, as in a process that is suspended while it waits for them.
type slowLock struct {
	resourcelock.Interface
	holder string
	pause  time.Duration
}

func (l *slowLock) Identity() string { return "a" }

func (l *slowLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: l.holder}, nil, nil
}

func (l *slowLock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	l.holder = record.HolderIdentity
	time.Sleep(l.pause)
	return nil
}

func TestARenewalCountsFromTheTimeItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowLock{}
		lock := &fencedLock{Interface: slow, fence: leaderfence.New(10 * time.Second)}
		renew := func(pause time.Duration, holder string) error {
			slow.pause = pause
			if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: holder}); err != nil {
				t.Fatal(err)
			}
			return lock.fence.Check(time.Now())
		}
		if err := lock.fence.Check(time.Now()); err == nil {
			t.Error("the fence is open before the first renewal")
		}
		if err := renew(time.Second, "a"); err != nil {
			t.Errorf("after a renewal: %v", err)
		}
		if err := renew(78*time.Second, "a"); err == nil {
			t.Error("the fence is open after a renewal whose response arrived 78 s later")
		}
		if err := renew(0, "a"); err != nil {
			t.Errorf("after another renewal: %v", err)
		}
		slow.holder = "b"
		if _, _, err := lock.Get(t.Context()); err != nil || lock.fence.Check(time.Now()) == nil {
			t.Errorf("the fence is open although another process holds the lease (%v)", err)
		}
		if err := renew(0, "a"); err != nil {
			t.Errorf("after a new term has begun: %v", err)
		}
		if err := renew(0, ""); err == nil {
			t.Error("the fence is open after the lease was released")
		}
	})
}

// recordedServer is an API server that records the methods and paths of its requests. It responds with its discovery
// documents or an empty pod.
type recordedServer struct{ requests []string }

// discovered holds the discovery documents that a new manager requests.
var discovered = map[string]string{
	"/api/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
		{"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["list"]},{"name":"pods","namespaced":true,"kind":"Pod","verbs":["list"]}]}`,
	"/apis/apps/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[
		{"name":"replicasets","namespaced":true,"kind":"ReplicaSet","verbs":["list"]},{"name":"statefulsets","namespaced":true,"kind":"StatefulSet","verbs":["list"]}]}`,
}

func (s *recordedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, known := discovered[r.URL.Path]
	if !known {
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		body = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}`
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body))}, nil
}

// config returns a client configuration for the server.
func (s *recordedServer) config() *rest.Config {
	return &rest.Config{Host: "http://server", ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON},
		WrapTransport: func(http.RoundTripper) http.RoundTripper { return s }}
}

// TestAControllersLeaderThatWasPausedWritesNothing freezes the process while it renews its lease, as SIGSTOP does. The
// term does not end by itself.
func TestAControllersLeaderThatWasPausedWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := fake.NewClientset()
		thawed := make(chan struct{})
		leases.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			<-thawed
			return false, nil, nil
		})
		server := &recordedServer{}
		ctx, stop := context.WithCancel(t.Context())
		err := electionOf(leases, "a").leadOneTerm(ctx, func(ctx context.Context, fence func() error) error {
			defer stop()
			defer close(thawed)
			ended := 0
			client := kubernetes.NewForConfigOrDie(fencedConfig(server.config(), fence, func() { ended++ })).CoreV1().Pods("n")
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"}}
			if _, err := client.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
				t.Errorf("a leader's write: %v", err)
			}
			time.Sleep(30 * time.Second)
			for name, write := range map[string]func() error{
				"create": func() error { _, err := client.Create(ctx, pod, metav1.CreateOptions{}); return err },
				"update": func() error { _, err := client.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); return err },
				"patch": func() error {
					_, err := client.Patch(ctx, "p", "application/merge-patch+json", []byte("{}"), metav1.PatchOptions{})
					return err
				},
				"delete": func() error { return client.Delete(ctx, "p", metav1.DeleteOptions{}) },
			} {
				if err := write(); !errors.Is(err, leaderfence.ErrNotLeader) {
					t.Errorf("%s after the lease: %v, want %v", name, err, leaderfence.ErrNotLeader)
				}
			}
			if _, err := client.Get(ctx, "p", metav1.GetOptions{}); err != nil {
				t.Errorf("a read: %v", err)
			}
			if ended != 4 {
				t.Errorf("the term was to end %d times, want at each of 4 writes", ended)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if want := []string{"POST /api/v1/namespaces/n/pods", "GET /api/v1/namespaces/n/pods/p"}; strings.Join(server.requests, ";") != strings.Join(want, ";") {
			t.Errorf("the server was sent %q, want %q", server.requests, want)
		}
	})
}

// TestTheManagerOfTheControllersWritesThroughTheFence checks the client configuration that all controllers share.
func TestTheManagerOfTheControllersWritesThroughTheFence(t *testing.T) {
	t.Parallel()
	server := &recordedServer{}
	mgr, err := newControlManager(fencedConfig(server.config(), func() error { return leaderfence.ErrNotLeader }, func() {}), false, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	err = kubernetes.NewForConfigOrDie(mgr.GetConfig()).CoreV1().Pods("n").Delete(t.Context(), "p", metav1.DeleteOptions{})
	wrote := slices.ContainsFunc(server.requests, func(r string) bool { return !strings.HasPrefix(r, "GET ") })
	if !errors.Is(err, leaderfence.ErrNotLeader) || wrote {
		t.Errorf("a write of the manager's client: %v, want %v; the server was sent %q", err, leaderfence.ErrNotLeader, server.requests)
	}
}
