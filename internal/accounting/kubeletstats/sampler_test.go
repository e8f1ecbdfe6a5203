package kubeletstats

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/test/apiserver"
)

// summary is an answer of a kubelet, of which only the fields that are read are given.
const summary = `{"node": {"nodeName": "node-1"}, "pods": [
  {"podRef": {"name": "a", "namespace": "default", "uid": "a"}, "containers": [
    {"name": "main", "startTime": "2026-01-01T00:00:00Z", "cpu": {"time": "2026-01-01T00:01:00Z", "usageCoreNanoSeconds": 45500000000}, "memory": {"time": "2026-01-01T00:01:00Z", "workingSetBytes": 1048576, "rssBytes": 1000}},
    {"name": "new", "startTime": "2026-01-01T00:00:00Z"}]},
  {"podRef": {"name": "b", "namespace": "default", "uid": "b"}}]}`

// ownCertificate returns a certificate and its key, which take long to generate.
var ownCertificate = sync.OnceValues(func() ([2][]byte, error) {
	certificate, key, err := certutil.GenerateSelfSignedCertKey("own", nil, nil)
	return [2][]byte{certificate, key}, err
})

// ownConfig returns a configuration with credentials that no kubelet may get: a token, a certificate, and a header that a
// wrapper of the transport adds.
func ownConfig(t *testing.T) *rest.Config {
	t.Helper()
	pair, err := ownCertificate()
	if err != nil {
		t.Fatal(err)
	}
	config := &rest.Config{Host: "https://api.example", BearerToken: "own"}
	config.ServerName, config.CertData, config.KeyData = "api.example", pair[0], pair[1]
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r.Header.Add("Authorization", "Bearer own")
			return next.RoundTrip(r)
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newNode(host string, port int) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	return node
}

func TestTheSummaryOfAKubeletIsRead(t *testing.T) {
	t.Parallel()
	kubelet := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Values("Authorization"); strings.Contains(strings.Join(got, ""), "own") || len(r.TLS.PeerCertificates) > 0 {
			t.Errorf("the kubelet gets the credentials %q of the client of the API server, and %d certificates", got, len(r.TLS.PeerCertificates))
		}
		if r.URL.Path != "/stats/summary" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource=stats)", http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(summary))
	}))
	kubelet.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	kubelet.StartTLS()
	defer kubelet.Close()
	host, port, err := net.SplitHostPort(kubelet.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	read := func(token string, insecure bool, node *corev1.Node) (map[types.UID][]podmeasure.Sample, error) {
		t.Helper()
		kubelets, err := NewKubelets(ownConfig(t), "", insecure)
		if err != nil {
			t.Fatal(err)
		}
		return kubelets.ReadSamples(t.Context(), node, token)
	}
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	want := map[types.UID][]podmeasure.Sample{"a": {{
		Container: "main", StartedAt: begun, At: begun.Add(time.Minute), CPU: 45500 * time.Millisecond, MemoryBytes: 1 << 20,
	}}}
	got, err := read("secret", true, newNode(host, number))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
	for name, test := range map[string]struct {
		token    string
		insecure bool
		node     *corev1.Node
		want     string
	}{
		"a certificate of another authority": {"secret", false, newNode(host, number), "certificate"},
		"without permission":                 {"other", true, newNode(host, number), "subresource=stats"},
		"a node without a kubelet":           {"secret", true, newNode(host, 0), "no port"},
		"a node without an address":          {"secret", true, newNode("", number), "no address"},
	} {
		if _, err := read(test.token, test.insecure, test.node); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}

// TestTheTokenIsNotSentToAnotherAddress redirects the client from a kubelet to another server.
func TestTheTokenIsNotSentToAnotherAddress(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server gets a request with the header %q", r.Header.Get("Authorization"))
	}))
	defer other.Close()
	kubelet := httptest.NewTLSServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer kubelet.Close()
	host, port, err := net.SplitHostPort(kubelet.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	kubelets, err := NewKubelets(ownConfig(t), "", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kubelets.ReadSamples(t.Context(), newNode(host, number), "secret"); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("error %v, want the status of the kubelet", err)
	}
}

// fakeKubelets answers for nodes without a network.
type fakeKubelets struct {
	mu    sync.Mutex
	calls map[string]int
	read  func(node string) (map[types.UID][]podmeasure.Sample, error)
}

func (f *fakeKubelets) ReadSamples(_ context.Context, node *corev1.Node, token string) (map[types.UID][]podmeasure.Sample, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[node.Name]++
	if token != "valid" {
		return nil, errors.New("401 Unauthorized")
	}
	return f.read(node.Name)
}

// fakeTokens issues a token unless it has an error.
type fakeTokens struct {
	err error
	// latest is the time for which a token was requested last.
	latest time.Time
}

func (f *fakeTokens) Token(_ context.Context, now time.Time) (string, error) {
	f.latest = now
	return "valid", f.err
}

// newSampler returns a Sampler with a running pod on each of the nodes good, bad and local.
func newSampler(t *testing.T, kubelets *fakeKubelets) (s *Sampler, server *apiserver.Server, uids map[string]types.UID) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(api.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	server, uids = apiserver.New(scheme, time.Now), map[string]types.UID{}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "job"}}
	tracker := podmeasure.New(time.Minute)
	for _, name := range []string{"good", "bad", "local"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name == "local" {
			node.Labels = map[string]string{keys.NodeKind: "process"}
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
		pod.Spec = corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "main", Image: "none"}}}
		pod.Status.Phase = corev1.PodRunning
		server.Save(node)
		server.Save(pod)
		if err := server.Client().Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			t.Fatal(err)
		}
		uids[name] = pod.UID
		tracker.Observe(job, pod, time.Now())
	}
	return New(Options{Interval: 30 * time.Second, Kubelets: kubelets, Tokens: &fakeTokens{}, Nodes: server.Cache(), API: server.Client(), Tracker: tracker, Log: logr.Discard()}), server, uids
}

// A kubelet that fails is asked less and less often, and does not delay others. The nodes of vc-local are not asked.
func TestKubeletsAreAskedAtIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var uids map[string]types.UID
		kubelets := &fakeKubelets{calls: map[string]int{}, read: func(node string) (map[types.UID][]podmeasure.Sample, error) {
			if node == "bad" {
				return nil, errors.New("connection refused")
			}
			now := time.Now()
			return map[types.UID][]podmeasure.Sample{uids["good"]: {{Container: "main", StartedAt: begun, At: now, CPU: now.Sub(begun) / 2, MemoryBytes: 1 << 20}}}, nil
		}}
		s, server, known := newSampler(t, kubelets)
		uids = known
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.Start(ctx)
		}()
		time.Sleep(time.Hour + time.Second)
		cancel()
		<-done
		if kubelets.calls["good"] != 120 || kubelets.calls["local"] != 0 {
			t.Errorf("requests %v, want 120 to the good node and none to the local one", kubelets.calls)
		}
		if calls := kubelets.calls["bad"]; calls < 5 || calls > 12 {
			t.Errorf("%d requests to the bad node in an hour", calls)
		}
		pod := &corev1.Pod{}
		if err := server.Client().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "good"}, pod); err != nil {
			t.Fatal(err)
		}
		use, ok := podusage.Of(pod)
		if minutes := use.CPUTime().Minutes(); !ok || minutes < 28 || minutes > 30 || use.PeakMemoryBytes != 1<<20 {
			t.Errorf("annotation %q", pod.Annotations[keys.Used])
		}
	})
}

// Without a token, no kubelet gets a request. This is logged once, and measuring continues with the next token.
func TestWithoutATokenNoKubeletIsAsked(t *testing.T) {
	t.Parallel()
	kubelets := &fakeKubelets{calls: map[string]int{}, read: func(string) (map[types.UID][]podmeasure.Sample, error) { return nil, nil }}
	s, _, _ := newSampler(t, kubelets)
	var lines []string
	s.Log = funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	tokens := &fakeTokens{err: errors.New("forbidden")}
	s.Tokens = tokens
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.measureNodes(t.Context(), now)
	s.measureNodes(t.Context(), now.Add(s.Interval))
	if len(kubelets.calls) != 0 || len(lines) != 1 || !strings.Contains(lines[0], "forbidden") {
		t.Errorf("requests %v without a token, log %q", kubelets.calls, lines)
	}
	tokens.err = nil
	s.measureNodes(t.Context(), now.Add(2*s.Interval))
	if kubelets.calls["good"] != 1 || len(lines) != 2 {
		t.Errorf("requests %v with a token, log %q", kubelets.calls, lines)
	}
}

// A tick can be older than a token: it waits while the previous measurement takes long.
func TestATokenIsValidWhenItIsUsed(t *testing.T) {
	t.Parallel()
	s, _, _ := newSampler(t, &fakeKubelets{})
	tokens := &fakeTokens{err: errors.New("forbidden")} // no kubelet gets a request
	s.Tokens = tokens
	before := time.Now()
	s.measureNodes(t.Context(), before.Add(-time.Hour))
	if tokens.latest.Before(before) {
		t.Errorf("a token was requested for %v, want one for %v or later", tokens.latest, before)
	}
}
