package admission

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestRulesOfQueuesThatAnInstallationChooses sends the same requests to webhooks with other flags: --max-queue-depth,
// --enable-root-queue-protection, --enable-queue-allocated-pods-check.
func TestRulesOfQueuesThatAnInstallationChooses(t *testing.T) {
	t.Parallel()
	busy, low := queue("busy", ""), queue("low", "")
	busy.Status.Allocated = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}
	low.Spec.Parent = "top"
	queues := &fakeQueues{cached: []*schedulingv1beta1.Queue{queue("top", ""), low, busy, queue("root", "")}}
	remove := request(admissionv1.Delete, "Queue", "", `{}`)
	remove.Name = "busy"
	lower := request(admissionv1.Create, "Queue", `{"metadata":{"name":"lower"},"spec":{"weight":1,"parent":"low"}}`, "")
	root := request(admissionv1.Update, "Queue", `{"metadata":{"name":"root"},"spec":{"weight":1,"capability":{"cpu":"4"}}}`, `{"metadata":{"name":"root"},"spec":{"weight":1}}`)
	for name, test := range map[string]struct {
		rules   schedulingv1beta1.QueueRules
		request admission.Request
		what    string // "" if the request is allowed
	}{
		"three deep, as usual":                   {schedulingv1beta1.QueueRules{}, lower, ""},
		"three deep, where two is the most":      {schedulingv1beta1.QueueRules{MaxDepth: 2}, lower, "queue lower would make the queue hierarchy 3 levels deep; the maximum is 2"},
		"root's amounts, as usual":               {schedulingv1beta1.QueueRules{}, root, "root queue's resource attributes (capability, deserved, guarantee) cannot be modified"},
		"root's amounts, where they are free":    {schedulingv1beta1.QueueRules{FreeRoot: true}, root, ""},
		"a busy queue goes, as usual":            {schedulingv1beta1.QueueRules{}, remove, ""},
		"a busy queue stays, where it has to":    {schedulingv1beta1.QueueRules{KeepBusy: true}, remove, "queue busy cannot be deleted because it has allocated Pods: 2"},
		"three deep, by what every client knows": {schedulingv1beta1.LooseQueueRules(), lower, ""},
	} {
		h := &hooks{schedulers: []string{"volcano"}, queues: queues, queueRules: test.rules}
		response := h.validateHandler(queueKind)(t.Context(), test.request)
		code := int32(0)
		if test.what != "" {
			code = http.StatusUnprocessableEntity
		}
		t.Run(name, func(t *testing.T) { requireResponse(t, response, code, test.what) })
	}
}

func TestPodsOfOthersAreLetAlone(t *testing.T) {
	t.Parallel()
	h := &hooks{schedulers: []string{"volcano", "mine"}, queues: &fakeQueues{}}
	for scheduler, code := range map[string]int32{"volcano": 422, "mine": 422, "default-scheduler": 0, "": 0} {
		pod := `{"metadata":{"name":"p","annotations":{"volcano.sh/jdb-min-available":"0"}},"spec":{"schedulerName":"` + scheduler + `"}}`
		requireResponse(t, h.validateHandler(podKind)(t.Context(), request(admissionv1.Create, "Pod", pod, "")), code, "positive integer")
	}
}

// mutated returns the job after the webhook has changed it.
func mutated(t *testing.T, h *hooks, request admission.Request) *batchv1alpha1.Job {
	t.Helper()
	response := h.mutateJob(t.Context(), request)
	if !response.Allowed {
		t.Fatal(response.Result)
	}
	operations, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		t.Fatal(err)
	}
	text, err := patch.Apply(request.Object.Raw)
	if err != nil {
		t.Fatal(err)
	}
	job := &batchv1alpha1.Job{}
	if err := json.Unmarshal(text, job); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestTheFirstSchedulerIsTheDefaultOfJobs(t *testing.T) {
	t.Parallel()
	h := &hooks{schedulers: []string{"batch", "volcano"}}
	for spec, want := range map[string]string{`{"tasks":[` + goodTask + `]}`: "batch", `{"schedulerName":"own","tasks":[` + goodTask + `]}`: "own"} {
		if got := mutated(t, h, request(admissionv1.Create, "Job", `{"spec":`+spec+`}`, "")).Spec.SchedulerName; got != want {
			t.Errorf("%s: scheduler %q, want %q", spec, got, want)
		}
	}
}

// counter numbers jobs; err is the result of every call.
type counter struct {
	next int64
	err  error
}

func (c *counter) Take(_ context.Context, n int) (int64, error) {
	first := c.next
	c.next += int64(n)
	return first, c.err
}

func TestNumbersOfJobsAtTheDoor(t *testing.T) {
	t.Parallel()
	const spec = `,"spec":{"tasks":[` + goodTask + `]}}`
	dry := request(admissionv1.Create, "Job", `{"metadata":{"name":"x"}`+spec, "")
	dry.DryRun = new(true)
	numbered := `{"metadata":{"name":"x","labels":{"vc-batch.dev/job-id":"9"}}` + spec
	for name, test := range map[string]struct {
		ids     *counter
		request admission.Request
		want    string
	}{
		"a new job gets the next one":              {&counter{next: 7}, request(admissionv1.Create, "Job", `{"metadata":{"name":"x"}`+spec, ""), "7"},
		"one that was copied gets its own":         {&counter{next: 7}, request(admissionv1.Create, "Job", numbered, ""), "7"},
		"one that was copied where there are none": {&counter{err: errors.New("no block")}, request(admissionv1.Create, "Job", numbered, ""), ""},
		"a dry run spends none":                    {&counter{next: 7}, dry, ""},
		"a changed job keeps the one it has":       {&counter{next: 7}, request(admissionv1.Update, "Job", `{"metadata":{"name":"x"}`+spec, numbered), "9"},
	} {
		h := &hooks{schedulers: []string{"volcano"}, ids: test.ids}
		if got := mutated(t, h, test.request).Labels[keys.JobID]; got != test.want {
			t.Errorf("%s: number %q, want %q", name, got, test.want)
		}
	}
}

// TestWhatIsNoReviewIsAnsweredWithAText sends requests to a webhook that no API server sends.
func TestWhatIsNoReviewIsAnsweredWithAText(t *testing.T) {
	t.Parallel()
	handler, err := newTestHandler(&hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		method, path, kind, body string
		status                   int // HTTP status
		what                     string
	}{
		"nothing":             {"POST", pathValidateJob, "application/json", "", 200, `"allowed":false`},
		"another content":     {"POST", pathValidateJob, "text/plain", "{}", 200, "expected application/json"},
		"no JSON":             {"POST", pathValidateJob, "application/json", "{", 200, `"allowed":false`},
		"more than there is":  {"POST", pathValidateJob, "application/json", strings.Repeat(" ", 8<<20), 200, "request entity is too large"},
		"a path that is none": {"POST", "/jobs/admire", "application/json", "{}", 404, ""},
		"a question":          {"GET", pathValidateJob, "application/json", "", 405, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			post := httptest.NewRequestWithContext(t.Context(), test.method, test.path, strings.NewReader(test.body))
			post.Header.Set("Content-Type", test.kind)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, post)
			if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.what) {
				t.Errorf("want %d with %q, got %d: %.300s", test.status, test.what, answer.Code, answer.Body)
			}
		})
	}
}
