package live

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/test/watchserver"
)

var small = watchserver.Cluster{Nodes: 5, Jobs: 40, Pods: 3, Now: time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)}

// watched starts a server of these kinds and who watches it.
func watched(t *testing.T, kinds map[string]*watchserver.Kind) (*watchserver.Server, func(what string, wanted func(*snapshot.Snapshot) bool) *snapshot.Snapshot) {
	t.Helper()
	server := watchserver.New(kinds)
	web := httptest.NewServer(server)
	l, err := New(Options{Config: &rest.Config{Host: web.URL}, Cluster: "test", Namespace: "team-01"})
	if err != nil {
		t.Fatal(err)
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
	return server, func(what string, wanted func(*snapshot.Snapshot) bool) *snapshot.Snapshot {
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

func TestALostConnectionIsToldAndComesBackByItself(t *testing.T) {
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

func TestWithoutAllPodsNobodySaysWhatIsIdle(t *testing.T) {
	t.Parallel()
	kinds := small.Kinds()
	kinds["pods"].Forbidden, kinds["pods"].Namespace = true, "team-01"
	_, until := watched(t, kinds)
	if s := until("the first lists", isLive); !s.Nodes[0].Unknown {
		t.Errorf("%+v", s.Nodes[0])
	}
}

func TestOfWhatIsToldOfPodsOnlyWarningsAreWatched(t *testing.T) {
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
