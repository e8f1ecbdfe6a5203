package livesnapshot

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/test/watchserver"
)

var small = watchserver.Cluster{Nodes: 5, Jobs: 40, Pods: 3, Now: time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)}

// watched starts a server of these kinds, and a Live that watches it.
func watched(t *testing.T, kinds map[string]*watchserver.Kind) (*watchserver.Server, func(what string, wanted func(*snapshot.Snapshot) bool) *snapshot.Snapshot) {
	t.Helper()
	server := watchserver.New(kinds)
	web := httptest.NewServer(server)
	return server, follow(t, web.URL, web)
}

// follow watches the server at an address until the test ends, and then closes the server.
func follow(t *testing.T, address string, web *httptest.Server, otherwise ...func(*Live)) func(what string, wanted func(*snapshot.Snapshot) bool) *snapshot.Snapshot {
	t.Helper()
	l, err := New(Options{Config: &rest.Config{Host: address}, Cluster: "test", Namespace: "team-01"})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range otherwise {
		set(l)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ended
		web.CloseClientConnections()
		web.Close()
	})
	return func(what string, wanted func(*snapshot.Snapshot) bool) *snapshot.Snapshot {
		t.Helper()
		for {
			s, err := l.Next(ctx)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if wanted(s) {
				return s
			}
		}
	}
}

func isLive(s *snapshot.Snapshot) bool { return s.Connection.Link == snapshot.LinkLive }

func TestAllThatIsThereArrivesAndWhatBecomesOfIt(t *testing.T) {
	t.Parallel()
	server, until := watched(t, small.Kinds())
	s := until("the first lists", isLive)
	pods := 0
	for _, job := range s.Jobs {
		pods += len(job.Pods)
	}
	got := []int{len(s.Nodes), len(s.Jobs), pods, len(s.Queues), len(s.Loading), len(s.Hidden)}
	if diff := cmp.Diff([]int{5, 40, 120, 21, 0, 0}, got); diff != "" {
		t.Errorf("nodes, jobs, pods, queues, loading, hidden: %s", diff)
	}
	changed := small.Job(0)
	changed.Status.State.Phase = batchv1alpha1.Completed
	server.Send("jobs", "MODIFIED", changed)
	server.Send("pods", "DELETED", small.Pod(0))
	next := until("the changes", func(s *snapshot.Snapshot) bool {
		job := s.Job(changed.UID)
		return job.Phase == batchv1alpha1.Completed && len(job.Pods) == 2
	})
	if at := small.Job(1).UID; next.Job(at) != s.Job(at) {
		t.Error("a job that did not change has another row")
	}
}

func TestLostConnectionIsReportedAndRestoredAutomatically(t *testing.T) {
	t.Parallel()
	server, until := watched(t, small.Kinds())
	until("the first lists", isLive)
	server.Down(true)
	s := until("the loss", func(s *snapshot.Snapshot) bool { return s.Connection.Link == snapshot.LinkDisconnected })
	if len(s.Jobs) != 40 || s.Connection.Problem == "" || strings.Contains(s.Connection.Problem, "http://") {
		t.Errorf("%d jobs are left, the problem is %q", len(s.Jobs), s.Connection.Problem)
	}
	server.Down(false)
	if s := until("the return", isLive); len(s.Jobs) != 40 {
		t.Errorf("%d jobs after it came back", len(s.Jobs))
	}
}

func TestWhoMayNotSeeAllPodsSeesThoseOfTheOwnNamespace(t *testing.T) {
	t.Parallel()
	kinds := small.Kinds()
	kinds["pods"].Forbidden, kinds["pods"].Namespace = true, "team-01"
	kinds["nodes"].Forbidden = true
	delete(kinds, "hypernodes") // its definition is not installed
	_, until := watched(t, kinds)
	s := until("the first lists", isLive)
	pods := map[string]int{}
	for _, job := range s.Jobs {
		pods[job.Namespace] += len(job.Pods)
	}
	if pods["team-01"] == 0 || pods["team-02"] != 0 {
		t.Errorf("pods by namespace: %v", pods)
	}
	hidden := map[string][]string{}
	for _, h := range s.Hidden {
		hidden[h.Kind] = h.Namespaces
	}
	if diff := cmp.Diff(map[string][]string{"pods": {"team-01"}, "nodes": nil}, hidden); diff != "" {
		t.Error(diff)
	}
}

func TestIdleResourcesAreUnknownWithoutAllPods(t *testing.T) {
	t.Parallel()
	kinds := small.Kinds()
	kinds["pods"].Forbidden, kinds["pods"].Namespace = true, "team-01"
	_, until := watched(t, kinds)
	if s := until("the first lists", isLive); !s.Nodes[0].Unknown {
		t.Errorf("%+v", s.Nodes[0])
	}
}

func TestOnlyWarningsAboutPodsAreWatched(t *testing.T) {
	t.Parallel()
	tell := func(name, kind, sort, reason string) client.Object {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team-01", Name: name, UID: types.UID(name)}, Type: sort, Reason: reason, InvolvedObject: corev1.ObjectReference{Kind: kind}}
	}
	const normal, warning = corev1.EventTypeNormal, corev1.EventTypeWarning
	_, until := watched(t, watchserver.Of(tell("pulled", "Pod", normal, "Pulled"), tell("no-node", "Pod", warning, "FailedScheduling"), tell("image", "Pod", warning, "Failed"),
		tell("evicted", "Pod", warning, "Evict"), tell("gang", "PodGroup", warning, "Unschedulable"), tell("job", "Job", normal, "ExecuteAction")))
	s := until("the first lists", isLive)
	var got []string
	for _, e := range s.Events {
		got = append(got, string(e.UID))
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"evicted", "gang", "image", "job"}, got); diff != "" {
		t.Error(diff)
	}
}

// swallower forwards connections until swallow is set. Then it silently drops all data in both directions.
type swallower struct {
	to      string
	swallow atomic.Bool
}

func (s *swallower) serve(listener net.Listener) {
	for {
		in, err := listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", s.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		go s.pass(in, out)
		go s.pass(out, in)
	}
}

func (s *swallower) pass(from, to net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if s.swallow.Load() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestSilentConnectionLossIsReportedWithinTenSeconds(t *testing.T) {
	t.Parallel()
	server := watchserver.New(small.Kinds())
	web := httptest.NewServer(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	between := &swallower{to: web.Listener.Addr().String()}
	go between.serve(listener)
	until := follow(t, "http://"+listener.Addr().String(), web)
	until("the first lists", isLive)
	between.swallow.Store(true)
	lost := time.Now()
	s := until("the loss", func(s *snapshot.Snapshot) bool { return s.Connection.Link == snapshot.LinkDisconnected })
	if took := time.Since(lost); took > 10*time.Second || len(s.Jobs) != 40 {
		t.Errorf("told after %s; %d jobs are shown", took, len(s.Jobs))
	}
	between.swallow.Store(false)
	until("the return", isLive)
	changed := small.Job(0)
	changed.Status.State.Phase = batchv1alpha1.Completed
	server.Send("jobs", "MODIFIED", changed)
	until("what changes afterwards", func(s *snapshot.Snapshot) bool { return s.Job(changed.UID).Phase == batchv1alpha1.Completed })
}

// deaf is a response whose client receives nothing more once on is set, as if a middlebox had dropped the connection.
type deaf struct {
	http.ResponseWriter
	on *atomic.Bool
}

func (d deaf) Write(text []byte) (int, error) {
	if d.on.Load() {
		return len(text), nil
	}
	return d.ResponseWriter.Write(text)
}

func (d deaf) Flush() {
	if !d.on.Load() {
		d.ResponseWriter.(http.Flusher).Flush()
	}
}

func TestOneDeadWatchAmongLiveOnesIsSetUpAgain(t *testing.T) {
	t.Parallel()
	server := watchserver.New(small.Kinds())
	var dead atomic.Bool
	var watches atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/queues") && watches.Add(1) == 1 {
			w = deaf{w, &dead}
		}
		server.ServeHTTP(w, r)
	}))
	until := follow(t, web.URL, web, func(l *Live) { l.stalled = 2 * time.Second })
	until("the first lists", isLive)
	dead.Store(true)
	job := small.Job(0)
	for state := schedulingv1beta1.QueueStateClosed; ; { // no client before the second watch
		job.Status.Running++
		server.Send("jobs", "MODIFIED", job) // to produce a Snapshot to check
		queue := small.Queue(1)
		queue.Status.State = state
		server.Send("queues", "MODIFIED", queue)
		s := until("any change", func(s *snapshot.Snapshot) bool { return s.Job(job.UID).Running == job.Status.Running })
		if s.Connection.Link == snapshot.LinkDisconnected {
			t.Fatalf("the connection is called lost: %s", s.Connection.Problem)
		}
		if s.Queue(queue.Name).State == state {
			break
		}
	}
	if n := watches.Load(); n < 2 {
		t.Errorf("queues were watched %d times", n)
	}
}

func TestAListThatBringsNothingNewIsNoChange(t *testing.T) {
	t.Parallel()
	server, until := watched(t, small.Kinds())
	before := until("the first lists", isLive)
	server.Down(true)
	until("the loss", func(s *snapshot.Snapshot) bool { return s.Connection.Link == snapshot.LinkDisconnected })
	server.Down(false)
	after := until("the return", isLive)
	if !after.At.Equal(before.At) {
		t.Errorf("changed at %s, and at %s after nothing changed", before.At, after.At)
	}
	server.Send("pods", "DELETED", small.Pod(0))
	until("the change", func(s *snapshot.Snapshot) bool { return s.At.After(before.At) })
}

func TestWhoSharesBetweenQueuesIsReadFromWhatTheSchedulerSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"actions: allocate\ntiers: [{plugins: [{name: priority}]}, {plugins: [{name: proportion}]}]": "proportion",
		"actions: allocate\ntiers: [{plugins: [{name: gang}, {name: capacity}]}]":                    "capacity",
		"actions: allocate\ntiers: [{plugins: [{name: capacity, enableHierarchy: true}]}]":           "capacity (hierarchical)",
		"actions: allocate\ntiers: [{plugins: [{name: gang}]}]":                                      "",
		"tiers: {": "",
	} {
		said := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: keys.ConfigurationName}, Data: map[string]string{keys.ConfigurationText: text}}
		other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: "other"}, Data: map[string]string{keys.ConfigurationText: "actions: allocate\ntiers: [{plugins: [{name: capacity}]}]"}}
		_, until := watched(t, watchserver.Of(said, other))
		if s := until("the first lists", isLive); s.Policy != want {
			t.Errorf("%q: %q, want %q", text, s.Policy, want)
		}
	}
}
