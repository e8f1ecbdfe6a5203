package hypernode

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/registration"
	"github.com/vc-batch/vc/test/apiserver"
)

// bench is a cluster with a controller.
type bench struct {
	t          *testing.T
	api        *apiserver.Client     // for users
	connection *apiserver.Connection // of the controller
	r          *Reconciler
	events     *record.FakeRecorder
	now        time.Time
}

func newBench(t *testing.T, config string, nodes ...node) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), api.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, events: record.NewFakeRecorder(10), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	name := ConfigMapName()
	objects := []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Data: map[string]string{ConfigKey: config}}}
	for _, n := range nodes {
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: n.labels}})
	}
	server := apiserver.New(scheme, func() time.Time { return b.now })
	for _, o := range objects {
		server.Save(o)
	}
	b.api, b.connection = server.Client(), apiserver.NewConnection(server)
	b.r = New(Options{Cache: server.Cache(), API: b.connection.Client(), Recorder: b.events, ConfigMap: name, Now: func() time.Time { return b.now }})
	return b
}

func (b *bench) turn() (time.Duration, error) {
	result, err := b.r.Reconcile(b.t.Context(), reconcile.Request{})
	return result.RequeueAfter, err
}

func (b *bench) mustTurn() time.Duration {
	b.t.Helper()
	again, err := b.turn()
	if err != nil {
		b.t.Fatal(err)
	}
	return again
}

func (b *bench) hyperNodes() []string {
	b.t.Helper()
	var list topologyv1alpha1.HyperNodeList
	if err := b.api.List(b.t.Context(), &list); err != nil {
		b.t.Fatal(err)
	}
	return drawn(list.Items)
}

func (b *bench) wantHyperNodes(want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(append([]string(nil), want...), b.hyperNodes()); diff != "" {
		b.t.Errorf("hyperNodes (-want +got):\n%s", diff)
	}
}

func (b *bench) configure(config string) {
	b.t.Helper()
	var c corev1.ConfigMap
	if err := b.api.Get(b.t.Context(), ConfigMapName(), &c); err != nil {
		b.t.Fatal(err)
	}
	c.Data[ConfigKey] = config
	if err := b.api.Update(b.t.Context(), &c); err != nil {
		b.t.Fatal(err)
	}
}

// event returns the next event, or "".
func (b *bench) event() string {
	select {
	case e := <-b.events.Events:
		return e
	default:
		return ""
	}
}

// ethernet returns a configuration with the topology hall.
func ethernet() string {
	return labelConfig("eth", "hall", "row", "rack", "kubernetes.io/hostname")
}

func TestHyperNodesAreMadeOfLabelsAndGoWithThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, ethernet(), ats("a r1 w1 -", "b r2 w1 -")...)
	b.mustTurn()
	b.wantHyperNodes("1 rack=r1: a", "1 rack=r2: b", "2 row=w1: r1 r2")
	if err := b.api.Delete(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	b.mustTurn()
	b.wantHyperNodes("1 rack=r1: a", "2 row=w1: r1")
	if e := b.event(); e != "" {
		t.Errorf("event %q", e)
	}
}

func TestAFaultyConfigurationTakesNothingAway(t *testing.T) {
	t.Parallel()
	b := newBench(t, ethernet(), ats("a r1 - -")...)
	b.mustTurn()
	for _, config := range []string{"a: [", labelConfig("eth", "rack"), strings.Replace(ethernet(), "true", "false", 1), ""} {
		b.configure(config)
		b.mustTurn()
		b.wantHyperNodes("1 rack=r1: a")
	}
	if e := b.event(); !strings.HasPrefix(e, "Warning "+ConfigInvalid) || !strings.Contains(e, "YAML") {
		t.Errorf("event %q", e)
	}
	if e := b.event(); !strings.Contains(e, "networkTopologyTypes[eth]") {
		t.Errorf("event %q", e)
	}
}

func TestFaultIsReportedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a: [")
	b.mustTurn()
	b.mustTurn()
	if b.event() == "" || b.event() != "" {
		t.Error("the fault is not told once")
	}
	b.configure(ethernet())
	b.mustTurn()
	b.configure("a: [")
	b.mustTurn()
	if b.event() == "" {
		t.Error("the fault that is back is not told")
	}
}

func TestWithoutAConfigurationNodesAreNotWatched(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.r.watchNodes = func() error { t.Error("nodes are watched"); return nil }
	b.mustTurn()
	b.configure(strings.Replace(ethernet(), "true", "false", 1))
	b.mustTurn()
	b.r.ConfigMap.Name = "not-there"
	b.mustTurn()
}

func TestNodesAreWatchedOnceTheyMatter(t *testing.T) {
	t.Parallel()
	b := newBench(t, ethernet())
	watched := 0
	b.r.watchNodes = func() error { watched++; return nil }
	b.mustTurn()
	b.mustTurn()
	if watched != 1 {
		t.Errorf("nodes are watched %d times", watched)
	}
}

// TestTheControllerWatchesTheLabelsOfNodes verifies that a reconcile starts the watch of nodes through the registration
// of the controller.
func TestTheControllerWatchesTheLabelsOfNodes(t *testing.T) {
	t.Parallel()
	b := newBench(t, ethernet())
	c := Controller(b.r.Options)
	var nodes registration.Watch
	c.OnRegister(func(w registration.Watch) error {
		nodes = w
		return nil
	})
	if _, err := c.Reconciler.Reconcile(t.Context(), reconcile.Request{}); err != nil || nodes.Kind == nil {
		t.Fatalf("watched %v, error %v", nodes.Kind, err)
	}
	node := func(label string) client.Object {
		n := nodeMetadata()
		n.Name, n.Labels = "a", map[string]string{"rack": label}
		return n
	}
	for name, change := range map[string]struct {
		before, after client.Object
		want          int
	}{
		"a node is created":  {nil, node("r1"), 1},
		"a node is labeled":  {node("r1"), node("r2"), 1},
		"its status changes": {node("r1"), node("r1"), 0},
		"a node is deleted":  {node("r1"), nil, 1},
	} {
		q := &counter{}
		if nodes.Deliver(t.Context(), change.before, change.after, q); q.requests != change.want {
			t.Errorf("%s: %d requests, want %d", name, q.requests, change.want)
		}
	}
}

// counter is a work queue that counts requests.
type counter struct {
	registration.Queue
	requests int
}

func (c *counter) AddAfter(reconcile.Request, time.Duration) { c.requests++ }

func TestFailedWriteOfAHyperNodeIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, ethernet(), ats("a r1 - -")...)
	b.connection.Faults = []apiserver.Fault{{Err: errors.New("no room")}}
	if _, err := b.turn(); err == nil {
		t.Error("it is not tried again")
	}
	if e := b.event(); !strings.HasPrefix(e, "Warning "+DiscoveryFailed) || !strings.Contains(e, "no room") {
		t.Errorf("event %q", e)
	}
}

// ufm is a fake fabric manager.
type ufm struct {
	answer string
	status int
	asked  int
}

func (u *ufm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.asked++
	user, password, _ := r.BasicAuth()
	if user != "admin" || password != "secret" || r.URL.Path != "/ufmRest/resources/ports" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.WriteHeader(u.status)
	_, _ = fmt.Fprint(w, u.answer)
}

const twoLeaves = `[
 {"description": "Computer IB Port", "system_name": "a", "peer_node_name": "l1", "tier": 4},
 {"description": "Computer IB Port", "system_name": "b", "peer_node_name": "l2", "tier": 4},
 {"description": "Switch IB Port", "system_name": "l1", "peer_node_name": "s1"},
 {"description": "Switch IB Port", "system_name": "l2", "peer_node_name": "s1"}]`

func TestAFabricManagerIsAskedOnceInAnInterval(t *testing.T) {
	t.Parallel()
	u := &ufm{answer: twoLeaves, status: http.StatusOK}
	server := httptest.NewTLSServer(u)
	defer server.Close()
	config := "networkTopologyDiscovery: [{source: ufm, enabled: true, interval: 10m, credentials: {secretRef: {name: ufm, namespace: vault}}, config: {endpoint: '" +
		server.URL + "', insecureSkipVerify: true}}]"
	b := newBench(t, config, ats("a", "b")...)
	if again := b.mustTurn(); again != time.Minute || !strings.Contains(b.event(), "vault/ufm") {
		t.Errorf("without a secret it is tried again after %v", again)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "vault", Name: "ufm"}, Data: map[string][]byte{"username": []byte("admin"), "password": []byte("secret")}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vault"}}
	if err := errors.Join(b.api.Create(t.Context(), namespace), b.api.Create(t.Context(), secret)); err != nil {
		t.Fatal(err)
	}
	if again := b.mustTurn(); again != 10*time.Minute {
		t.Errorf("asked again after %v", again)
	}
	there := []string{"1 =: a", "1 =: b", "2 =:  "}
	b.wantHyperNodes(there...)
	b.now = b.now.Add(9 * time.Minute)
	if again := b.mustTurn(); again != time.Minute || u.asked != 1 {
		t.Errorf("asked %d times, again after %v", u.asked, again)
	}

	b.now = b.now.Add(time.Minute)
	for _, bad := range []ufm{{"no JSON", http.StatusOK, 0}, {"[]", http.StatusInternalServerError, 0}} {
		u.answer, u.status = bad.answer, bad.status
		if again := b.mustTurn(); again != time.Minute || !strings.Contains(b.event(), "Warning "+DiscoveryFailed) {
			t.Errorf("after an answer that is none it asks again after %v", again)
		}
		b.wantHyperNodes(there...)
	}
	u.answer, u.status = "[]", http.StatusOK
	b.mustTurn()
	b.wantHyperNodes()
}
