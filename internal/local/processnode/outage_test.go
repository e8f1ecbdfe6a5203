package processnode

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// brokenLine fails all requests while it is broken.
type brokenLine struct {
	http.RoundTripper
	isBroken *atomic.Bool
}

func (l brokenLine) RoundTrip(request *http.Request) (*http.Response, error) {
	if l.isBroken.Load() {
		return nil, errors.New("the API server is not available")
	}
	return l.RoundTripper.RoundTrip(request)
}

// TestANodeEndsAlthoughItCannotWriteTheEndOfAPod stops a node when a pod has ended and the API server is not available.
func TestANodeEndsAlthoughItCannotWriteTheEndOfAPod(t *testing.T) {
	t.Parallel()
	var isBroken atomic.Bool
	config := testConfig(t, "outage")
	config.REST = rest.CopyConfig(config.REST)
	config.REST.Wrap(func(line http.RoundTripper) http.RoundTripper { return brokenLine{line, &isBroken} })
	node, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	node.writePatience = 100 * time.Millisecond
	stop := runNode(t, node)
	ns := namespace(t)
	pod := create(t, ns, shell("short", "outage", "sleep 1"))
	untilPhase(t, ns, "short", corev1.PodRunning)
	isBroken.Store(true)
	eventually(t, 20*time.Second, "the pod has ended", func() bool {
		node.mu.Lock()
		defer node.mu.Unlock()
		w := node.workers[pod.UID]
		if w == nil {
			return false
		}
		w.writer.mu.Lock()
		defer w.writer.mu.Unlock()
		return w.writer.final
	})
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("the node has not ended after 10 s")
	}
}
