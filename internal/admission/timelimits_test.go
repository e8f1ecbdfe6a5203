package admission

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// timedQueue returns an open queue with a default and a maximum run time.
func timedQueue(usual, longest time.Duration) *schedulingv1beta1.Queue {
	q := queue("timed", schedulingv1beta1.QueueStateOpen)
	q.Spec.JobLimits = &schedulingv1beta1.JobLimits{DefaultRunTime: &metav1.Duration{Duration: usual}, MaxRunTime: &metav1.Duration{Duration: longest}}
	return q
}

const untimedJob = `{"metadata":{"name":"x"},"spec":{"queue":"timed","tasks":[` + goodTask + `]}}`

// defaulted returns an object with the changes of the webhook that sets a job's defaults.
func defaulted(t *testing.T, h *hooks, operation admissionv1.Operation, object, old string) string {
	t.Helper()
	response := h.mutateJob(t.Context(), request(operation, "Job", object, old))
	if !response.Allowed {
		t.Fatalf("rejected: %v", response.Result)
	}
	text, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := patch.Apply([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	return string(changed)
}

func TestTheWebhookSetsTheTimeLimitThatTheQueueRequires(t *testing.T) {
	t.Parallel()
	for name, queues := range map[string]*fakeQueues{
		"the queue is known":           {cached: []*schedulingv1beta1.Queue{timedQueue(time.Hour, 2*time.Hour)}},
		"the queue was created before": {live: []*schedulingv1beta1.Queue{timedQueue(time.Hour, 2*time.Hour)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{schedulers: []string{"volcano"}, queues: queues}
			created := defaulted(t, h, admissionv1.Create, untimedJob, "")
			job := &batchv1alpha1.Job{}
			if err := json.Unmarshal([]byte(created), job); err != nil {
				t.Fatal(err)
			}
			if limit := job.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds; limit == nil || *limit != 3600 || job.Spec.RunningEstimate == nil || job.Spec.RunningEstimate.Duration != time.Hour {
				t.Errorf("the job has no limit of an hour: %s", created)
			}
			requireResponse(t, h.validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", created, "")), 0, "")
			// The manifest is applied again.
			updated := defaulted(t, h, admissionv1.Update, untimedJob, created)
			requireResponse(t, h.validateHandler(jobKind)(t.Context(), request(admissionv1.Update, "Job", updated, created)), 0, "")
		})
	}
}

// TestAJobWithoutATimeLimitIsRejectedIfTheWebhookDidNotSetIt covers a defaulting webhook that failed, which the API server
// ignores.
func TestAJobWithoutATimeLimitIsRejectedIfTheWebhookDidNotSetIt(t *testing.T) {
	t.Parallel()
	unreadable := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{down: errors.New("down")}}
	created := defaulted(t, unreadable, admissionv1.Create, untimedJob, "")
	h := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{cached: []*schedulingv1beta1.Queue{timedQueue(time.Hour, 2*time.Hour)}}}
	requireResponse(t, h.validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", created, "")), 422, "the pods have no time limit, but queue timed permits at most 2h: set a limit of 7200 seconds or less")
}
