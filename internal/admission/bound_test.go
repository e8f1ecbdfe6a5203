package admission

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// review returns the body of a review for the creation of a job.
func review(job string) []byte {
	return fmt.Appendf(nil, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","kind":{"group":"batch.volcano.sh","version":"v1alpha1","kind":"Job"},`+
		`"operation":"CREATE","namespace":"a","object":%s}}`, job)
}

// jobOfTasks returns a job with the given number of tasks, each with a container and a text of the given length in
// bytes.
func jobOfTasks(tasks, text int) string {
	task := `{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i","args":["` + strings.Repeat("x", text) + `"]}]}}}`
	return `{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j","namespace":"a"},"spec":{"tasks":[` +
		strings.TrimSuffix(strings.Repeat(task+",", tasks), ",") + `]}}`
}

// largestHeap returns the maximum additional memory that the process uses during call.
func largestHeap(call func()) uint64 {
	debug.FreeOSMemory()
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before, most := held(), uint64(0)
	done := make(chan struct{})
	go func() { defer close(done); call() }()
	for {
		most = max(most, held())
		select {
		case <-done:
			return most - min(before, most)
		case <-time.After(time.Millisecond):
		}
	}
}

// newTestHandler returns the HTTP handler for webhooks.
func newTestHandler(h *hooks) (http.Handler, error) {
	bounds := newBounds()
	return newHTTPHandler(logr.Discard(), bounds, h.boundedHandlers(bounds))
}

// TestManyLargeReviewsAtOnceNeedLittleMemory sends the largest requests that a user can send through an API server: the
// limit of the Deployment is 256 MiB. It must not run in parallel.
func TestManyLargeReviewsAtOnceNeedLittleMemory(t *testing.T) { //nolint:paralleltest // it measures memory
	containers := `{"metadata":{"name":"j"},"spec":{"tasks":[{"template":{"spec":{"containers":[` + strings.TrimSuffix(strings.Repeat("{},", 900_000), ",") + `]}}}]}}`
	for name, test := range map[string]struct {
		path, job string
	}{
		"26,000 tasks":                {pathMutateJob, jobOfTasks(26_000, 20)},
		"900,000 containers":          {pathMutateJob, containers},
		"900,000 containers, checked": {pathValidateJob, containers},
		"as much as is worked on":     {pathMutateJob, jobOfTasks(250, 10_000)},
		"as much as is checked":       {pathValidateJob, jobOfTasks(250, 10_000)},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // it measures memory
			h := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{cached: []*schedulingv1beta1.Queue{queue("default", "")}}}
			handler, err := newTestHandler(h)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(handler)
			defer server.Close()
			body := review(test.job)
			var failed sync.Map
			bytes := largestHeap(func() {
				var all sync.WaitGroup
				for i := range 8 {
					all.Go(func() {
						if err := post(server.URL+test.path, body); err != nil {
							failed.Store(i, err)
						}
					})
				}
				all.Wait()
			})
			failed.Range(func(_, err any) bool { t.Error(err); return true })
			if limit := uint64(192 << 20); bytes > limit {
				t.Errorf("eight reviews of %.1f MB need %d MiB, want at most %d", float64(len(body))/1e6, bytes>>20, limit>>20)
			}
		})
	}
}

// post sends a review and returns an error if there is no valid response.
func post(url string, body []byte) error {
	response, err := http.Post(url, "application/json", bytes.NewReader(body)) //nolint:noctx // a test's own server
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"uid":"u"`))) {
		err = fmt.Errorf("%s: %.200s", response.Status, answer)
	}
	return err
}

func TestAnObjectThatIsTooLargeToBeCheckedIsRejected(t *testing.T) {
	t.Parallel()
	h := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{}}
	huge := request(admissionv1.Create, "Job", jobOfTasks(26_000, 20), "")
	bounds := newBounds()
	answer := bounds.limitObjects(h.validateHandler(jobKind), false)(t.Context(), huge)
	if answer.Allowed || answer.Result.Code != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Result.Message, "the object is too large to be checked: ") {
		t.Errorf("checked: %+v", answer)
	}
	answer = bounds.limitObjects(h.mutateJob, true)(t.Context(), huge)
	if !answer.Allowed || len(answer.Patches) > 0 {
		t.Errorf("defaulted: allowed %v, %d patches; want it left to the schema", answer.Allowed, len(answer.Patches))
	}
	ordinary := request(admissionv1.Create, "Job", jobOfTasks(500, 100), "")
	if answer = bounds.limitObjects(h.mutateJob, true)(t.Context(), ordinary); len(answer.Patches) == 0 {
		t.Error("a job of 500 tasks is not defaulted")
	}
}

func TestReviewsWaitForEachOther(t *testing.T) {
	t.Parallel()
	bounds := newBounds()
	large := request(admissionv1.Create, "Job", `{"x":"`+strings.Repeat("y", 5<<20)+`"}`, "")
	entered, leave := make(chan struct{}), make(chan struct{})
	handle := bounds.limitObjects(func(ctx context.Context, _ admission.Request) admission.Response {
		entered <- struct{}{}
		<-leave
		return admission.Allowed("")
	}, false)
	for range 2 {
		go handle(t.Context(), large)
	}
	<-entered
	select {
	case <-entered:
		t.Error("two objects of 40 MiB are worked on at once")
	case <-time.After(50 * time.Millisecond): // the second one had time to start
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if answer := handle(ctx, large); answer.Allowed || answer.Result.Code != http.StatusServiceUnavailable {
		t.Errorf("a review that nobody waits for any more: %+v", answer)
	}
	leave <- struct{}{}
	<-entered
	leave <- struct{}{}
}

func TestObjectsAreCounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, `{}`: 1, `{"a":{"b":[{},{}]}}`: 4, `{"a":"{{{"}`: 1, `{"a":"\\"}{`: 2, `{"a":"\"{"}`: 1, `{"a":"`: 1, `{"a":"\`: 1,
	} {
		if got := countObjects([]byte(text)); got != want {
			t.Errorf("%s: %d objects, want %d", text, got, want)
		}
	}
}
