package admission

import (
	"fmt"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func TestAnInstallationLimitsThePodsOfAJob(t *testing.T) {
	t.Parallel()
	spec := func(replicas ...int) string {
		tasks := ""
		for i, n := range replicas {
			tasks += fmt.Sprintf(`%s{"name":"t%d","replicas":%d,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}`, []string{"", ","}[min(i, 1)], i, n)
		}
		return `{"schedulerName":"volcano","queue":"default","minAvailable":1,"tasks":[` + tasks + `]}`
	}
	job := func(replicas ...int) string {
		return `{"metadata":{"name":"j","namespace":"a"},"spec":` + spec(replicas...) + `}`
	}
	const most = "the tasks have 11 replicas in total, but the maximum is 10: lower replicas, or create several jobs"
	tests := map[string]struct {
		request admission.Request
		kind    string
		says    string // "" if it is allowed
	}{
		"as many as allowed":           {request(admissionv1.Create, "Job", job(6, 4), ""), "Job", ""},
		"one more":                     {request(admissionv1.Create, "Job", job(6, 5), ""), "Job", most},
		"one more by a change":         {request(admissionv1.Update, "Job", job(6, 5), job(6, 4)), "Job", most},
		"fewer of too many":            {request(admissionv1.Update, "Job", job(6, 5), job(6, 7)), "Job", ""},
		"one more in a CronJob's jobs": {request(admissionv1.Create, "CronJob", `{"metadata":{"name":"c"},"spec":{"schedule":"0 1 * * *","jobTemplate":{"spec":`+spec(11)+`}}}`, ""), "CronJob", most},
		"one more in a template":       {request(admissionv1.Create, "JobTemplate", `{"metadata":{"name":"t"},"spec":`+spec(11)+`}`, ""), "JobTemplate", most},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{cached: []*schedulingv1beta1.Queue{queue("default", "")}}, maxReplicas: 10}
			kind := batchv1alpha1.GroupVersion.WithKind(test.kind)
			if test.kind == "JobTemplate" {
				kind = flowv1alpha1.GroupVersion.WithKind(test.kind)
			}
			code := int32(0)
			if test.says != "" {
				code = http.StatusUnprocessableEntity
			}
			requireResponse(t, h.validateHandler(kind)(t.Context(), test.request), code, test.says)
		})
	}
}
