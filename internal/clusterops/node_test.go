package clusterops_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/test/clitest"
)

func node(cordoned bool) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "uid-of-n1"}}
	n.Spec.Unschedulable = cordoned
	return n
}

func onNode(name string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: object(name), Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	if change != nil {
		change(pod)
	}
	return pod
}

// podsOnANode returns, by name, a pod of every kind that a drain treats differently.
func podsOnANode() map[string]*corev1.Pod {
	controller := true
	of := func(apiVersion, kind string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "d", UID: "d", Controller: &controller}}
		}
	}
	pods := map[string]*corev1.Pod{}
	for name, change := range map[string]func(*corev1.Pod){
		"alone": nil, "of-job": of("batch.volcano.sh/v1alpha1", "Job"), "of-others-daemonset": of("apps.kruise.io/v1alpha1", "DaemonSet"),
		"daemon": of("apps/v1", "DaemonSet"),
		"mirror": func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} },
		"ended":  func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded },
		"failed": func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"data": func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		},
	} {
		pods[name] = onNode(name, change)
	}
	return pods
}

func TestADrainEvictsWhatDoesNotStay(t *testing.T) {
	t.Parallel()
	elsewhere := onNode("elsewhere", func(p *corev1.Pod) { p.Spec.NodeName = "n2" })
	s, c := cluster(t, node(false), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "nlp"}}, elsewhere)
	for _, pod := range podsOnANode() {
		s.SetObjects(pod)
	}
	if got, want := told(c.CordonAndDrain(t.Context(), "n1")), "node n1 drained; 4 pods evicted"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := evicted(s); !slices.Equal(got, []string{"alone", "data", "of-job", "of-others-daemonset"}) {
		t.Errorf("evicted: %v", got)
	}
	if spec := s.ObjectsBelow("/api/v1/nodes")[0]["spec"].(map[string]any); spec["unschedulable"] != true {
		t.Errorf("the node is not cordoned: %v", spec)
	}
}

// TestWhatIsSaidToStayAtADrainStays checks that jobstatus.StaysDuringDrain, which uses no client, agrees with the
// drain.
func TestWhatIsSaidToStayAtADrainStays(t *testing.T) {
	t.Parallel()
	s, c := cluster(t, node(false), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "nlp"}})
	for _, pod := range podsOnANode() {
		s.SetObjects(pod)
	}
	d := &clusterops.Drain{Typed: c.Typed, IgnoreDaemonSets: true, DeleteEmptyDirData: true, Force: true}
	leaving, _, err := d.PodsToEvict(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	for name, pod := range podsOnANode() {
		goes := slices.ContainsFunc(leaving, func(p corev1.Pod) bool { return p.Name == name })
		if stays := jobstatus.StaysDuringDrain(pod); stays == goes {
			t.Errorf("%s: it is said that it stays: %t; it is evicted: %t", name, stays, goes)
		}
	}
}

func TestADrainWithoutFlagsNamesThePodsThatNeedThem(t *testing.T) {
	t.Parallel()
	s, c := cluster(t, node(false), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "nlp"}})
	for _, pod := range podsOnANode() {
		s.SetObjects(pod)
	}
	pods, _, err := (&clusterops.Drain{Typed: c.Typed}).PodsToEvict(t.Context(), "n1")
	if err == nil || len(pods) > 0 {
		t.Fatalf("%d pods would be evicted: %v", len(pods), err)
	}
	for _, flag := range []string{"--ignore-daemonsets", "--force"} {
		if !strings.Contains(err.Error(), flag) {
			t.Errorf("%s is not named: %v", flag, err)
		}
	}
}

// evicted returns the names of the evicted pods.
func evicted(s *clitest.Server) []string {
	var names []string
	for _, request := range s.Requests() {
		if path, found := strings.CutSuffix(request, "/eviction"); found {
			names = append(names, path[strings.LastIndex(path, "/")+1:])
		}
	}
	slices.Sort(names)
	return names
}

func TestADrainTellsWhatItDidAndWhyItEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refuse func(*clitest.Server)
		want   string
	}{
		"one may not be evicted": {func(s *clitest.Server) {
			s.RejectRequests(http.MethodPost, "/api/v1/namespaces/nlp/pods/b/eviction", http.StatusForbidden, metav1.StatusReasonForbidden, "pods b is forbidden")
		}, `node n1 cordoned; 2 pods evicted | node "n1": error when evicting pods/"b" -n "nlp": pods b is forbidden`},
		"one is gone already": {func(s *clitest.Server) {
			s.RejectRequests(http.MethodPost, "/api/v1/namespaces/nlp/pods/b/eviction", http.StatusNotFound, metav1.StatusReasonNotFound, "pods b not found")
		}, "node n1 drained; 2 pods evicted"},
		"pods may not be listed": {func(s *clitest.Server) {
			s.RejectRequests(http.MethodGet, "/api/v1/pods", http.StatusForbidden, metav1.StatusReasonForbidden, "pods is forbidden")
		}, `node n1 cordoned; no pods were evicted | node "n1": pods is forbidden`},
		"the node may not be changed": {func(s *clitest.Server) {
			s.RejectRequests(http.MethodPatch, "/api/v1/nodes", http.StatusForbidden, metav1.StatusReasonForbidden, "nodes n1 is forbidden")
		}, " | nodes n1 is forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := cluster(t, node(false), onNode("a", nil), onNode("b", nil), onNode("c", nil))
			tc.refuse(s)
			if got := told(c.CordonAndDrain(t.Context(), "n1")); got != tc.want {
				t.Errorf("%q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestADrainThatIsInterruptedNamesThePodsThatAreLeft(t *testing.T) {
	t.Parallel()
	_, c := cluster(t, node(true), onNode("a", nil), onNode("b", nil))
	ctx, stop := context.WithCancel(t.Context())
	c.Config.WrapTransport = func(inner http.RoundTripper) http.RoundTripper { return silent{inner, stop} }
	var err error
	if c.Typed, err = kubernetes.NewForConfig(c.Config); err != nil {
		t.Fatal(err)
	}
	if got, want := told(c.CordonAndDrain(ctx, "n1")), `node n1 cordoned; no pods were evicted | the drain of node "n1" was interrupted; remaining pods: nlp/a, nlp/b`; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestADrainReportsPodsThatADisruptionBudgetProtects(t *testing.T) {
	t.Parallel()
	s, c := cluster(t, node(true), onNode("a", nil), onNode("b", nil))
	s.RejectRequests(http.MethodPost, "/api/v1/namespaces/nlp/pods/b/eviction", http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "the disruption budget b needs 1 healthy pod")
	var retried, gone []string
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	d := &clusterops.Drain{Typed: c.Typed, Force: true, Timeout: time.Minute, RetryAfter: time.Millisecond, GracePeriod: -1,
		Evicted: func(p *corev1.Pod) { gone = append(gone, p.Name) },
		Retried: func(p *corev1.Pod) {
			retried = append(retried, p.Name)
			stop()
		}}
	pods, _, err := d.PodsToEvict(ctx, "n1")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.EvictAndWait(ctx, "n1", pods); !errors.Is(err, clusterops.ErrInterrupted) || !strings.HasSuffix(err.Error(), "nlp/b") || !slices.Equal(retried, []string{"b"}) {
		t.Errorf("%v; evicted %v, retried %v", err, gone, retried)
	}
}

// silent is a transport on which evictions never return and exceed the time limit.
type silent struct {
	inner http.RoundTripper
	over  func()
}

func (s silent) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(request.URL.Path, "/eviction") {
		return s.inner.RoundTrip(request)
	}
	s.over()
	<-request.Context().Done()
	return nil, request.Context().Err()
}

func TestANodeIsCordonedOnceAndUncordoned(t *testing.T) {
	t.Parallel()
	s, c := cluster(t, node(false))
	var got []string
	for _, cordoned := range []bool{true, true, false, false} {
		got = append(got, told(c.SetCordoned(t.Context(), "n1", cordoned)))
	}
	if diff := cmp.Diff([]string{"node n1 cordoned", "node n1 is already cordoned", "node n1 uncordoned", "node n1 is already uncordoned"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := c.SetCordoned(t.Context(), "n9", true); err == nil {
		t.Error("a node that is not there was cordoned")
	}
	if n := strings.Count(strings.Join(s.Requests(), "\n"), http.MethodPatch); n != 2 {
		t.Errorf("%d writes", n)
	}
}
