package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/vc-batch/vc/api/check"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/podtemplate"
)

// validate judges objects of a kind that are created or changed.
func (h *hooks) validate(kind schema.GroupVersionKind) admission.HandlerFunc {
	return func(ctx context.Context, request admission.Request) admission.Response {
		queues := h.queues.lookup(ctx)
		around := &check.Around{SchedulerNames: h.schedulers, Queues: queues, QueueRules: h.queueRules, Template: podtemplate.Validate}
		jobs := &jobLookup{ctx: ctx, reader: h.jobs}
		if h.jobs != nil {
			around.Jobs = jobs
		}
		var verdict check.Verdict
		if request.Operation == admissionv1.Update {
			verdict = check.Update(kind, request.OldObject.Raw, request.Object.Raw, around)
		} else {
			verdict = check.Create(kind, request.Object.Raw, around)
		}
		if err := errors.Join(queues.err, jobs.err); err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return answer(kind.GroupKind(), request.Name, verdict.Errors).WithWarnings(verdict.Warnings...)
	}
}

// validateQueue judges queues, also those that are to be deleted.
func (h *hooks) validateQueue(ctx context.Context, request admission.Request) admission.Response {
	kind := schedulingv1beta1.GroupVersion.WithKind("Queue")
	if request.Operation != admissionv1.Delete {
		return h.validate(kind)(ctx, request)
	}
	queues := h.queues.lookup(ctx)
	errs := h.queueRules.ValidateDelete(request.Name, queues)
	if queues.err != nil {
		return admission.Errored(http.StatusInternalServerError, queues.err)
	}
	return answer(kind.GroupKind(), request.Name, errs).WithWarnings(h.busyQueueWarnings(request.Name, queues)...)
}

// busyQueueWarnings tells who deletes a queue that pods still run in.
func (h *hooks) busyQueueWarnings(name string, queues *queueLookup) []string {
	queue, ok := queues.Queue(name)
	if !ok {
		return nil
	}
	if pods := queue.Status.Allocated[corev1.ResourcePods]; pods.Sign() > 0 {
		return []string{fmt.Sprintf("queue %s has allocated Pods: %s; they run on, and no new ones of their jobs are scheduled", name, pods.String())}
	}
	return nil
}
