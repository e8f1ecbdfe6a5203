package act_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/act"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/clitest"
)

// cluster returns a server with these objects, and a Cluster that acts on it.
func cluster(t *testing.T, objects ...client.Object) (*clitest.Server, *act.Cluster) {
	t.Helper()
	s := clitest.Start(t, objects...)
	config := &rest.Config{Host: s.URL(), QPS: -1}
	c, err := client.New(config, client.Options{Scheme: cli.Scheme(), Mapper: kinds()})
	if err != nil {
		t.Fatal(err)
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return s, &act.Cluster{Client: c, Typed: typed, Config: config, Now: time.Now}
}

// kinds returns a mapper for the kinds that actions apply to.
func kinds() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Pod", "Event"} {
		m.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	m.Add(batchv1alpha1.GroupVersion.WithKind("Job"), meta.RESTScopeNamespace)
	m.Add(busv1alpha1.GroupVersion.WithKind("Command"), meta.RESTScopeNamespace)
	m.Add(schedulingv1beta1.GroupVersion.WithKind("PodGroup"), meta.RESTScopeNamespace)
	m.Add(schedulingv1beta1.GroupVersion.WithKind("Queue"), meta.RESTScopeRoot)
	return m
}

func object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "nlp", Name: name, UID: types.UID("uid-of-" + name)}
}

func job(name string, phase batchv1alpha1.JobPhase) *batchv1alpha1.Job {
	return &batchv1alpha1.Job{ObjectMeta: object(name), Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: phase}}}
}

func asJobs(objects []client.Object) []*batchv1alpha1.Job {
	var jobs []*batchv1alpha1.Job
	for _, o := range objects {
		jobs = append(jobs, o.(*batchv1alpha1.Job))
	}
	return jobs
}

// told returns the result and the error as one text.
func told(said string, err error) string {
	if err != nil {
		return said + " | " + strings.ReplaceAll(err.Error(), "\n", " & ")
	}
	return said
}

func TestEachVerbDoesToJobsWhatItSays(t *testing.T) {
	t.Parallel()
	running, pending, aborted := batchv1alpha1.Running, batchv1alpha1.Pending, batchv1alpha1.Aborted
	held := job("train", pending)
	held.Annotations = map[string]string{keys.Hold: keys.HoldUser}
	for name, tc := range map[string]struct {
		verb *act.Verb
		job  *batchv1alpha1.Job
		said string
		// command is the action requested from the controller. hold is the annotation afterwards; "-" means that the
		// job is deleted.
		command, hold string
	}{
		"suspend asks the controller":         {act.Suspend, job("train", running), "job nlp/train is to be suspended", "AbortJob", ""},
		"resume asks the controller":          {act.Resume, job("train", aborted), "job nlp/train is to be resumed", "ResumeJob", ""},
		"requeue asks the controller":         {act.Restart, job("train", running), "job nlp/train is to be restarted", "RestartJob", ""},
		"cancel asks the controller":          {act.Cancel, job("train", running), "job nlp/train is to be cancelled", "TerminateJob", ""},
		"hold is done at once":                {act.Hold, job("train", pending), "job nlp/train held", "", keys.HoldUser},
		"release is done at once":             {act.Release, held, "job nlp/train released", "", ""},
		"delete is done at once":              {act.Delete, job("train", running), "job nlp/train deleted", "", "-"},
		"what is so already is left":          {act.Suspend, job("train", aborted), "train suspended already", "", ""},
		"what cannot be done is not asked":    {act.Hold, job("train", running), ` | job "train": only what has not started can be held; suspend stops what runs`, "", ""},
		"a job that ended is not cancelled":   {act.Cancel, job("train", batchv1alpha1.Completed), "train has ended already", "", ""},
		"a suspended job can be cancelled":    {act.Cancel, job("train", aborted), "job nlp/train is to be cancelled", "TerminateJob", ""},
		"a suspended job is not restarted":    {act.Restart, job("train", aborted), ` | job "train": it is suspended; resume it`, "", ""},
		"a job that was not held stays as is": {act.Release, job("train", pending), "train is not held", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := cluster(t, tc.job)
			if got := told(c.Jobs(t.Context(), tc.verb, []*batchv1alpha1.Job{tc.job})); got != tc.said {
				t.Errorf("said %q, want %q", got, tc.said)
			}
			var asked []string
			for _, command := range s.Created("Command") {
				asked = append(asked, command["action"].(string))
			}
			if got := strings.Join(asked, ","); got != tc.command {
				t.Errorf("asked %q, want %q", got, tc.command)
			}
			left := s.Objects("/apis/batch.volcano.sh/v1alpha1/jobs")
			if gone := len(left) == 0; gone != (tc.hold == "-") {
				t.Fatalf("%d jobs are left", len(left))
			}
			if len(left) > 0 {
				annotations, _ := left[0]["metadata"].(map[string]any)["annotations"].(map[string]any)
				if hold, _ := annotations[keys.Hold].(string); hold != tc.hold {
					t.Errorf("hold is %q, want %q", hold, tc.hold)
				}
			}
		})
	}
}

func TestWhatHalfSucceedsIsToldWithBothHalves(t *testing.T) {
	t.Parallel()
	objects := []client.Object{job("a", batchv1alpha1.Running), job("b", batchv1alpha1.Running), job("c", batchv1alpha1.Pending), job("d", batchv1alpha1.Running)}
	s, c := cluster(t, objects...)
	s.Refuse(http.MethodDelete, "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs/c", http.StatusForbidden, metav1.StatusReasonForbidden, "jobs c is forbidden")
	if got, want := told(c.Jobs(t.Context(), act.Delete, asJobs(objects))), "3 jobs deleted | jobs c is forbidden"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(s.Objects("/apis/batch.volcano.sh/v1alpha1/jobs")); n != 1 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestANamesakeOfAJobIsLeftAlone(t *testing.T) {
	t.Parallel()
	seen := job("train", batchv1alpha1.Pending)
	var bodies []string
	_, c := cluster(t, seen)
	c.Config.WrapTransport = func(inner http.RoundTripper) http.RoundTripper { return recording{inner, &bodies} }
	var err error
	if c.Client, err = client.New(c.Config, client.Options{Scheme: cli.Scheme(), Mapper: kinds()}); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []*act.Verb{act.Hold, act.Delete} {
		if _, err := c.Job(t.Context(), verb, seen); err != nil {
			t.Fatal(err)
		}
	}
	for _, body := range bodies {
		if !strings.Contains(body, "uid-of-train") {
			t.Errorf("a write does not say which job was seen: %s", body)
		}
	}
	if len(bodies) != 2 {
		t.Errorf("%d writes", len(bodies))
	}
}

// recording records the requests.
type recording struct {
	inner  http.RoundTripper
	bodies *[]string
}

func (r recording) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		defer body.Close()
		var sent json.RawMessage
		if err := json.NewDecoder(body).Decode(&sent); err != nil {
			return nil, err
		}
		*r.bodies = append(*r.bodies, string(sent))
	}
	return r.inner.RoundTrip(request)
}

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

// podsOnANode are pods of every kind that a drain tells apart.
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
		s.Set(pod)
	}
	if got, want := told(c.Drain(t.Context(), "n1")), "node n1 drained; 4 pods evicted"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := evicted(s); !slices.Equal(got, []string{"alone", "data", "of-job", "of-others-daemonset"}) {
		t.Errorf("evicted: %v", got)
	}
	if spec := s.Objects("/api/v1/nodes")[0]["spec"].(map[string]any); spec["unschedulable"] != true {
		t.Errorf("the node is not cordoned: %v", spec)
	}
}

// What is said before a drain, of pods that no client is asked about, is what the drain does.
func TestWhatIsSaidToStayAtADrainStays(t *testing.T) {
	t.Parallel()
	s, c := cluster(t, node(false), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "nlp"}})
	for _, pod := range podsOnANode() {
		s.Set(pod)
	}
	d := &act.Drain{Typed: c.Typed, IgnoreDaemonSets: true, DeleteEmptyDirData: true, Force: true}
	leaving, _, err := d.Leaving(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	for name, pod := range podsOnANode() {
		goes := slices.ContainsFunc(leaving, func(p corev1.Pod) bool { return p.Name == name })
		if stays := account.StaysAtDrain(pod); stays == goes {
			t.Errorf("%s: it is said that it stays: %t; it is evicted: %t", name, stays, goes)
		}
	}
}

func TestADrainWithoutFlagsNamesThePodsThatNeedThem(t *testing.T) {
	t.Parallel()
	s, c := cluster(t, node(false), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "nlp"}})
	for _, pod := range podsOnANode() {
		s.Set(pod)
	}
	pods, _, err := (&act.Drain{Typed: c.Typed}).Leaving(t.Context(), "n1")
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
			s.Refuse(http.MethodPost, "/api/v1/namespaces/nlp/pods/b/eviction", http.StatusForbidden, metav1.StatusReasonForbidden, "pods b is forbidden")
		}, `node n1 cordoned; 2 pods evicted | node "n1": error when evicting pods/"b" -n "nlp": pods b is forbidden`},
		"one is gone already": {func(s *clitest.Server) {
			s.Refuse(http.MethodPost, "/api/v1/namespaces/nlp/pods/b/eviction", http.StatusNotFound, metav1.StatusReasonNotFound, "pods b not found")
		}, "node n1 drained; 2 pods evicted"},
		"pods may not be listed": {func(s *clitest.Server) {
			s.Refuse(http.MethodGet, "/api/v1/pods", http.StatusForbidden, metav1.StatusReasonForbidden, "pods is forbidden")
		}, `node n1 cordoned; no pod was evicted | node "n1": pods is forbidden`},
		"the node may not be changed": {func(s *clitest.Server) {
			s.Refuse(http.MethodPatch, "/api/v1/nodes", http.StatusForbidden, metav1.StatusReasonForbidden, "nodes n1 is forbidden")
		}, " | nodes n1 is forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := cluster(t, node(false), onNode("a", nil), onNode("b", nil), onNode("c", nil))
			tc.refuse(s)
			if got := told(c.Drain(t.Context(), "n1")); got != tc.want {
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
	if got, want := told(c.Drain(ctx, "n1")), `node n1 cordoned; no pod was evicted | the drain of node "n1" was interrupted: pods that are left: nlp/a, nlp/b`; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestADrainReportsPodsThatADisruptionBudgetProtects(t *testing.T) {
	t.Parallel()
	s, c := cluster(t, node(true), onNode("a", nil), onNode("b", nil))
	s.Refuse(http.MethodPost, "/api/v1/namespaces/nlp/pods/b/eviction", http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "the disruption budget b needs 1 healthy pod")
	var retried, gone []string
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	d := &act.Drain{Typed: c.Typed, Force: true, Timeout: time.Minute, RetryAfter: time.Millisecond, GracePeriod: -1,
		Evicted: func(p *corev1.Pod) { gone = append(gone, p.Name) },
		Retried: func(p *corev1.Pod) {
			retried = append(retried, p.Name)
			stop()
		}}
	pods, _, err := d.Leaving(ctx, "n1")
	if err != nil {
		t.Fatal(err)
	}
	var unfinished *act.Unfinished
	if err := d.Evict(ctx, "n1", pods); !errors.As(err, &unfinished) || !strings.HasSuffix(unfinished.What, "nlp/b") || !slices.Equal(retried, []string{"b"}) {
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
		got = append(got, told(c.Cordon(t.Context(), "n1", cordoned)))
	}
	if diff := cmp.Diff([]string{"node n1 cordoned", "node n1 is cordoned already", "node n1 uncordoned", "node n1 is uncordoned already"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Cordon(t.Context(), "n9", true); err == nil {
		t.Error("a node that is not there was cordoned")
	}
	if n := strings.Count(strings.Join(s.Requests(), "\n"), http.MethodPatch); n != 2 {
		t.Errorf("%d writes", n)
	}
}

func queue(name, parent string, state schedulingv1beta1.QueueState, annotations ...string) *schedulingv1beta1.Queue {
	q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name)}, Spec: schedulingv1beta1.QueueSpec{Weight: 1, Parent: parent},
		Status: schedulingv1beta1.QueueStatus{State: state}}
	if len(annotations) == 2 {
		q.Annotations = map[string]string{annotations[0]: annotations[1]}
	}
	return q
}

func TestAQueueIsOpenedAndClosedByACommandAsItsControllerAllows(t *testing.T) {
	t.Parallel()
	open, closed := schedulingv1beta1.QueueStateOpen, schedulingv1beta1.QueueStateClosed
	for name, tc := range map[string]struct {
		queue *schedulingv1beta1.Queue
		above *schedulingv1beta1.Queue
		open  bool
		want  string
		asks  string
	}{
		"an open one is closed":              {queue("nlp", "root", open), queue("root", "", open), false, "queue nlp is to be closed", "CloseQueue"},
		"a closed one is opened":             {queue("nlp", "root", closed), queue("root", "", open), true, "queue nlp is to be opened", "OpenQueue"},
		"below root one opens whatever root": {queue("nlp", "root", closed), queue("root", "", closed), true, "queue nlp is to be opened", "OpenQueue"},
		"root stays open":                    {queue("root", "", open), queue("x", "root", open), false, ` | queue "root" cannot be closed: it is what all queues stand under`, ""},
		"below a closed one none is opened":  {queue("nlp", "ai", closed), queue("ai", "root", closed), true, ` | queue "nlp" cannot be opened: its parent ai is Closed; open that first`, ""},
		"an annotation is stronger":          {queue("nlp", "root", open, keys.QueueState, "Open"), queue("root", "", open), false, ` | queue "nlp" says itself, by its annotation ` + keys.QueueState + `, that it is to be Open`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := cluster(t, tc.queue, tc.above)
			if got := told(c.SwitchQueue(t.Context(), tc.queue.Name, tc.open)); got != tc.want {
				t.Errorf("%q\nwant %q", got, tc.want)
			}
			asks := ""
			for _, command := range s.Created("Command") {
				asks += command["action"].(string)
			}
			if asks != tc.asks {
				t.Errorf("asked %q, want %q", asks, tc.asks)
			}
		})
	}
}

func TestLimitsOfAQueueAreChangedAndTakenAway(t *testing.T) {
	t.Parallel()
	q := queue("nlp", "root", schedulingv1beta1.QueueStateOpen)
	var err error
	if q.Spec.Capability, err = act.ParseAmounts("capability", "cpu=8,memory=64Gi"); err != nil {
		t.Fatal(err)
	}
	s, c := cluster(t, q)
	said, err := c.EditQueue(t.Context(), "nlp", act.QueueEdit{Weight: "3", Capability: "-", Deserved: "cpu=4,nvidia.com/gpu=8"})
	if err != nil || said != "queue nlp changed" {
		t.Errorf("%q, %v", said, err)
	}
	spec := s.Objects("/apis/scheduling.volcano.sh/v1beta1/queues")[0]["spec"].(map[string]any)
	if diff := cmp.Diff(map[string]any{"cpu": "4", "nvidia.com/gpu": "8"}, spec["deserved"]); diff != "" || spec["capability"] != nil || spec["weight"] != float64(3) || spec["parent"] != "root" {
		t.Errorf("%v %s", spec, diff)
	}
	for edit, want := range map[act.QueueEdit]string{
		{Weight: "0"}: "from 1 to 65535", {Weight: "65536"}: "from 1 to 65535", {Weight: "two"}: "whole number", {Deserved: "cpu=-1"}: "less than 0",
		{Guarantee: "cpu"}: "NAME=AMOUNT", {Capability: "cpu=1,cpu=2"}: "twice",
	} {
		if _, err := c.EditQueue(t.Context(), "nlp", edit); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", edit, err, want)
		}
	}
}

func TestAManifestHasItsKindAndNotWhoWroteIt(t *testing.T) {
	t.Parallel()
	n := node(false)
	n.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	_, c := cluster(t, n, job("train", batchv1alpha1.Running), queue("nlp", "root", schedulingv1beta1.QueueStateOpen))
	for kind, name := range map[string]string{"Node": "n1", "Job": "train", "Queue": "nlp"} {
		text, err := c.Manifest(t.Context(), kind, map[string]string{"Job": "nlp"}[kind], name)
		if err != nil || !strings.Contains(text, "kind: "+kind+"\n") || strings.Contains(text, "managedFields") {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
	}
	if _, err := c.Manifest(t.Context(), "Secret", "nlp", "s"); err == nil {
		t.Error("a secret was shown")
	}
}

func TestASheetHasAllThatIsToldOfAJobAndItsPods(t *testing.T) {
	t.Parallel()
	train := job("train", batchv1alpha1.Pending)
	pod := onNode("train-main-0", func(p *corev1.Pod) { p.Labels = map[string]string{keys.JobName: "train"} })
	event := func(name string, about client.Object, ago time.Duration) *corev1.Event {
		return &corev1.Event{ObjectMeta: object(name), Reason: name, InvolvedObject: corev1.ObjectReference{UID: about.GetUID()}, LastTimestamp: metav1.NewTime(time.Now().Add(-ago))}
	}
	s, c := cluster(t, train, pod, event("Pulling", pod, time.Minute), event("Created", train, time.Hour), event("Foreign", node(false), 0))
	sheet, err := c.Sheet(t.Context(), "nlp", "train")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range sheet.Events {
		got = append(got, e.Reason)
	}
	if diff := cmp.Diff([]string{"Created", "Pulling"}, got); diff != "" || len(sheet.Pods) != 1 {
		t.Errorf("%d pods, events %s", len(sheet.Pods), diff)
	}
	s.Refuse(http.MethodGet, "/api/v1/namespaces/nlp/events", http.StatusForbidden, metav1.StatusReasonForbidden, "events is forbidden")
	s.Refuse(http.MethodGet, "/apis/scheduling.volcano.sh/v1beta1/namespaces/nlp/podgroups", http.StatusForbidden, metav1.StatusReasonForbidden, "podgroups is forbidden")
	if sheet, err = c.Sheet(t.Context(), "nlp", "train"); err != nil || !sheet.Unreadable || len(sheet.Events) != 0 || len(sheet.Pods) != 1 {
		t.Errorf("with few rights: %+v, %v", sheet, err)
	}
}

func TestTheEventsOfManyPodsAreThoseOfAllOfThem(t *testing.T) {
	t.Parallel()
	train := job("train", batchv1alpha1.Running)
	objects, known := []client.Object{train}, []types.UID{}
	group := &schedulingv1beta1.PodGroup{ObjectMeta: object("train"), Status: schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupRunning}}
	group.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(train, batchv1alpha1.GroupVersion.WithKind("Job"))}
	objects = append(objects, group)
	for i := range 30 {
		pod := onNode(fmt.Sprintf("train-main-%d", i), func(p *corev1.Pod) { p.Labels = map[string]string{keys.JobName: "train"} })
		pod.UID = types.UID(fmt.Sprintf("pod-%d", i))
		known = append(known, pod.UID)
		objects = append(objects, pod, &corev1.Event{ObjectMeta: object(fmt.Sprintf("pulled-%d", i)), Reason: "Pulled", InvolvedObject: corev1.ObjectReference{UID: pod.UID}})
	}
	objects = append(objects, &corev1.Event{ObjectMeta: object("foreign"), Reason: "Foreign", InvolvedObject: corev1.ObjectReference{UID: "foreign"}})
	s, c := cluster(t, objects...)
	before := len(s.Requests())
	sheet, err := c.Sheet(t.Context(), "nlp", "train", known...)
	if err != nil || len(sheet.Events) != 30 {
		t.Fatalf("%d events, %v", len(sheet.Events), err)
	}
	if asked := len(s.Requests()) - before; asked > 6 {
		t.Errorf("%d requests for one job", asked)
	}
}
