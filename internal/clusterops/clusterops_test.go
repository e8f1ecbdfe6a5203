package clusterops_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/test/clitest"
)

// cluster returns a server with these objects, and a Cluster that acts on it.
func cluster(t *testing.T, objects ...client.Object) (*clitest.Server, *clusterops.Cluster) {
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
	return s, &clusterops.Cluster{Client: c, Typed: typed, Config: config, Now: time.Now}
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
		verb *clusterops.Verb
		job  *batchv1alpha1.Job
		said string
		// command is the action requested from the controller. hold is the annotation afterwards; "-" means that the
		// job is deleted.
		command, hold string
	}{
		"suspend asks the controller":         {clusterops.Suspend, job("train", running), "job nlp/train will be suspended", "AbortJob", ""},
		"resume asks the controller":          {clusterops.Resume, job("train", aborted), "job nlp/train will be resumed", "ResumeJob", ""},
		"requeue asks the controller":         {clusterops.Restart, job("train", running), "job nlp/train will be restarted", "RestartJob", ""},
		"cancel asks the controller":          {clusterops.Cancel, job("train", running), "job nlp/train will be cancelled", "TerminateJob", ""},
		"hold is done at once":                {clusterops.Hold, job("train", pending), "job nlp/train held", "", keys.HoldUser},
		"release is done at once":             {clusterops.Release, held, "job nlp/train released", "", ""},
		"delete is done at once":              {clusterops.Delete, job("train", running), "job nlp/train deleted", "", "-"},
		"what is so already is left":          {clusterops.Suspend, job("train", aborted), "train is already suspended", "", ""},
		"what cannot be done is not asked":    {clusterops.Hold, job("train", running), ` | job "train": only pending jobs can be held; use suspend to stop a running job`, "", ""},
		"a job that ended is not cancelled":   {clusterops.Cancel, job("train", batchv1alpha1.Completed), "train has already ended", "", ""},
		"a suspended job can be cancelled":    {clusterops.Cancel, job("train", aborted), "job nlp/train will be cancelled", "TerminateJob", ""},
		"a suspended job is not restarted":    {clusterops.Restart, job("train", aborted), ` | job "train": the job is suspended; resume it instead`, "", ""},
		"a job that was not held stays as is": {clusterops.Release, job("train", pending), "train is not held", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := cluster(t, tc.job)
			if got := told(c.ApplyToJobs(t.Context(), tc.verb, []*batchv1alpha1.Job{tc.job})); got != tc.said {
				t.Errorf("said %q, want %q", got, tc.said)
			}
			var asked []string
			for _, command := range s.CreatedObjects("Command") {
				asked = append(asked, command["action"].(string))
			}
			if got := strings.Join(asked, ","); got != tc.command {
				t.Errorf("asked %q, want %q", got, tc.command)
			}
			left := s.ObjectsBelow("/apis/batch.volcano.sh/v1alpha1/jobs")
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

func TestPartialSuccessIsReportedWithBothParts(t *testing.T) {
	t.Parallel()
	objects := []client.Object{job("a", batchv1alpha1.Running), job("b", batchv1alpha1.Running), job("c", batchv1alpha1.Pending), job("d", batchv1alpha1.Running)}
	s, c := cluster(t, objects...)
	s.RejectRequests(http.MethodDelete, "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs/c", http.StatusForbidden, metav1.StatusReasonForbidden, "jobs c is forbidden")
	if got, want := told(c.ApplyToJobs(t.Context(), clusterops.Delete, asJobs(objects))), "3 jobs deleted | jobs c is forbidden"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(s.ObjectsBelow("/apis/batch.volcano.sh/v1alpha1/jobs")); n != 1 {
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
	for _, verb := range []*clusterops.Verb{clusterops.Hold, clusterops.Delete} {
		if _, err := c.ApplyToJob(t.Context(), verb, seen); err != nil {
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
		"an open one is closed":              {queue("nlp", "root", open), queue("root", "", open), false, "queue nlp will be closed", "CloseQueue"},
		"a closed one is opened":             {queue("nlp", "root", closed), queue("root", "", open), true, "queue nlp will be opened", "OpenQueue"},
		"below root one opens whatever root": {queue("nlp", "root", closed), queue("root", "", closed), true, "queue nlp will be opened", "OpenQueue"},
		"root stays open":                    {queue("root", "", open), queue("x", "root", open), false, ` | queue "root" cannot be closed: it is the root of all queues`, ""},
		"below a closed one none is opened":  {queue("nlp", "ai", closed), queue("ai", "root", closed), true, ` | queue "nlp" cannot be opened: its parent ai is Closed; open the parent first`, ""},
		"an annotation is stronger":          {queue("nlp", "root", open, keys.QueueState, "Open"), queue("root", "", open), false, ` | the annotation ` + keys.QueueState + ` sets the state of queue "nlp" to Open`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := cluster(t, tc.queue, tc.above)
			if got := told(c.SwitchQueue(t.Context(), tc.queue.Name, tc.open)); got != tc.want {
				t.Errorf("%q\nwant %q", got, tc.want)
			}
			asks := ""
			for _, command := range s.CreatedObjects("Command") {
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
	if q.Spec.Capability, err = clusterops.ParseAmounts("capability", "cpu=8,memory=64Gi"); err != nil {
		t.Fatal(err)
	}
	s, c := cluster(t, q)
	said, err := c.EditQueue(t.Context(), "nlp", clusterops.QueueEdit{Weight: "3", Capability: "-", Deserved: "cpu=4,nvidia.com/gpu=8"})
	if err != nil || said != "queue nlp changed" {
		t.Errorf("%q, %v", said, err)
	}
	spec := s.ObjectsBelow("/apis/scheduling.volcano.sh/v1beta1/queues")[0]["spec"].(map[string]any)
	if diff := cmp.Diff(map[string]any{"cpu": "4", "nvidia.com/gpu": "8"}, spec["deserved"]); diff != "" || spec["capability"] != nil || spec["weight"] != float64(3) || spec["parent"] != "root" {
		t.Errorf("%v %s", spec, diff)
	}
	for edit, want := range map[clusterops.QueueEdit]string{
		{Weight: "0"}: "from 1 to 65535", {Weight: "65536"}: "from 1 to 65535", {Weight: "two"}: "whole number", {Deserved: "cpu=-1"}: "must not be negative",
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
		text, err := c.ReadManifest(t.Context(), kind, map[string]string{"Job": "nlp"}[kind], name)
		if err != nil || !strings.Contains(text, "kind: "+kind+"\n") || strings.Contains(text, "managedFields") {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
	}
	if _, err := c.ReadManifest(t.Context(), "Secret", "nlp", "s"); err == nil {
		t.Error("a secret was shown")
	}
}

func TestSheetContainsTheEventsOfAJobAndItsPods(t *testing.T) {
	t.Parallel()
	train := job("train", batchv1alpha1.Pending)
	pod := onNode("train-main-0", func(p *corev1.Pod) { p.Labels = map[string]string{keys.JobName: "train"} })
	event := func(name string, about client.Object, ago time.Duration) *corev1.Event {
		return &corev1.Event{ObjectMeta: object(name), Reason: name, InvolvedObject: corev1.ObjectReference{UID: about.GetUID()}, LastTimestamp: metav1.NewTime(time.Now().Add(-ago))}
	}
	s, c := cluster(t, train, pod, event("Pulling", pod, time.Minute), event("Created", train, time.Hour), event("Foreign", node(false), 0))
	sheet, err := c.ReadJobSheet(t.Context(), "nlp", "train")
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
	s.RejectRequests(http.MethodGet, "/api/v1/namespaces/nlp/events", http.StatusForbidden, metav1.StatusReasonForbidden, "events is forbidden")
	s.RejectRequests(http.MethodGet, "/apis/scheduling.volcano.sh/v1beta1/namespaces/nlp/podgroups", http.StatusForbidden, metav1.StatusReasonForbidden, "podgroups is forbidden")
	if sheet, err = c.ReadJobSheet(t.Context(), "nlp", "train"); err != nil || !sheet.Unreadable || len(sheet.Events) != 0 || len(sheet.Pods) != 1 {
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
	sheet, err := c.ReadJobSheet(t.Context(), "nlp", "train", known...)
	if err != nil || len(sheet.Events) != 30 {
		t.Fatalf("%d events, %v", len(sheet.Events), err)
	}
	if asked := len(s.Requests()) - before; asked > 6 {
		t.Errorf("%d requests for one job", asked)
	}
}

// TestAnOutdatedCopyOfAJobDoesNotPreventAnAction verifies that an action that seems impossible for the caller's copy uses
// the current job: a hold can be undone before the dashboard has received it.
func TestAnOutdatedCopyOfAJobDoesNotPreventAnAction(t *testing.T) {
	t.Parallel()
	held, seen := job("train", batchv1alpha1.Pending), job("train", batchv1alpha1.Pending)
	held.Annotations = map[string]string{keys.Hold: keys.HoldUser}
	_, c := cluster(t, held)
	already, err := c.ApplyToJob(t.Context(), clusterops.Release, seen)
	if already != "" || err != nil {
		t.Fatalf("%q, %v", already, err)
	}
	current := &batchv1alpha1.Job{}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(seen), current); err != nil || current.Annotations[keys.Hold] != "" {
		t.Errorf("the job is still held: %v, %v", current.Annotations, err)
	}

	seen.UID = "another job with this name"
	if already, err := c.ApplyToJob(t.Context(), clusterops.Release, seen); already != "is not held" || err != nil {
		t.Errorf("%q, %v", already, err)
	}
}
