package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// The paths of the webhooks: Volcano's.
const (
	pathMutateJob        = "/jobs/mutate"
	pathValidateJob      = "/jobs/validate"
	pathMutateQueue      = "/queues/mutate"
	pathValidateQueue    = "/queues/validate"
	pathMutatePodGroup   = "/podgroups/mutate"
	pathValidatePodGroup = "/podgroups/validate"
	pathValidatePod      = "/pods/validate"
)

// namespaceGetter reads namespaces, for the queue that their annotation names.
type namespaceGetter interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (*corev1.Namespace, error)
}

// hooks are the webhooks.
type hooks struct {
	queues interface {
		lookup(ctx context.Context) *queueLookup
	}
	namespaces       namespaceGetter
	defaultScheduler string
	ids              JobIDs // may be nil
}

// handler serves every webhook at its path.
func (h *hooks) handler(log logr.Logger) (http.Handler, error) {
	mux := http.NewServeMux()
	for path, handle := range map[string]admission.HandlerFunc{
		pathMutateJob:        h.mutateJob,
		pathValidateJob:      h.validateJob,
		pathMutateQueue:      h.mutateQueue,
		pathValidateQueue:    h.validateQueue,
		pathMutatePodGroup:   h.mutatePodGroup,
		pathValidatePodGroup: h.validatePodGroup,
		pathValidatePod:      h.validatePod,
	} {
		hook, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handle}, admission.StandaloneOptions{Logger: log, MetricsPath: path})
		if err != nil {
			return nil, fmt.Errorf("admission: webhook %s: %w", path, err)
		}
		mux.Handle("POST "+path, hook)
	}
	return mux, nil
}

func (h *hooks) mutateJob(ctx context.Context, request admission.Request) admission.Response {
	return mutate(request, func(job *batchv1alpha1.Job) {
		if len(job.Spec.Tasks) > 0 {
			batchv1alpha1.DefaultJob(job, h.defaultScheduler)
		}
		h.number(ctx, request, job)
	})
}

func (h *hooks) validateJob(ctx context.Context, request admission.Request) admission.Response {
	job, old, err := decode[batchv1alpha1.Job](request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	// Defaulting fails open, so it may not have happened yet.
	batchv1alpha1.DefaultJob(job, h.defaultScheduler)
	kind := batchv1alpha1.GroupVersion.WithKind("Job").GroupKind()
	if request.Operation == admissionv1.Update {
		return answer(kind, job.Name, batchv1alpha1.ValidateJobUpdate(old, job))
	}
	queues := h.queues.lookup(ctx)
	errs := batchv1alpha1.ValidateJob(job, queues)
	if queues.err != nil {
		return admission.Errored(http.StatusInternalServerError, queues.err)
	}
	if len(errs) == 0 {
		errs = validateTemplates(job)
	}
	return answer(kind, job.Name, errs).WithWarnings(batchv1alpha1.JobWarnings(job)...)
}

func (h *hooks) mutateQueue(_ context.Context, request admission.Request) admission.Response {
	return mutate(request, schedulingv1beta1.DefaultQueue)
}

func (h *hooks) validateQueue(ctx context.Context, request admission.Request) admission.Response {
	kind := schedulingv1beta1.GroupVersion.WithKind("Queue").GroupKind()
	queues := h.queues.lookup(ctx)
	if request.Operation == admissionv1.Delete {
		return answer(kind, request.Name, schedulingv1beta1.ValidateQueueDelete(request.Name, queues)).
			WithWarnings(h.busyQueueWarnings(request.Name, queues)...)
	}
	queue, old, err := decode[schedulingv1beta1.Queue](request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	schedulingv1beta1.DefaultQueue(queue)
	var errs field.ErrorList
	if request.Operation == admissionv1.Update {
		errs = schedulingv1beta1.ValidateQueueUpdate(old, queue, queues)
	} else {
		errs = schedulingv1beta1.ValidateQueue(queue, queues)
	}
	if queues.err != nil {
		return admission.Errored(http.StatusInternalServerError, queues.err)
	}
	return answer(kind, queue.Name, errs)
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

func (h *hooks) mutatePodGroup(ctx context.Context, request admission.Request) admission.Response {
	return mutate(request, func(group *schedulingv1beta1.PodGroup) {
		namespaceQueue := ""
		if group.Spec.Queue == "" || group.Spec.Queue == keys.DefaultQueue {
			// A namespace that cannot be read names no queue: defaulting fails open.
			if namespace, err := h.namespaces.Get(ctx, request.Namespace, metav1.GetOptions{}); err == nil {
				namespaceQueue = namespace.Annotations[keys.PodQueueName]
			}
		}
		schedulingv1beta1.DefaultPodGroup(group, namespaceQueue)
	})
}

func (h *hooks) validatePodGroup(ctx context.Context, request admission.Request) admission.Response {
	group, _, err := decode[schedulingv1beta1.PodGroup](request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	queues := h.queues.lookup(ctx)
	errs := schedulingv1beta1.ValidatePodGroup(group, queues)
	if queues.err != nil {
		return admission.Errored(http.StatusInternalServerError, queues.err)
	}
	return answer(schedulingv1beta1.GroupVersion.WithKind("PodGroup").GroupKind(), group.Name, errs)
}

func (h *hooks) validatePod(_ context.Context, request admission.Request) admission.Response {
	pod, _, err := decode[corev1.Pod](request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	errs := schedulingv1beta1.ValidateDisruptionBudget(pod.Annotations, field.NewPath("metadata", "annotations"))
	return answer(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), pod.Name, errs)
}

// decode reads the object of a request, and the one before it on update.
func decode[T any](request admission.Request) (object, old *T, err error) {
	object, old = new(T), new(T)
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", strings.ToLower(request.Kind.Kind), err)
	}
	if len(request.OldObject.Raw) > 0 {
		if err := json.Unmarshal(request.OldObject.Raw, old); err != nil {
			return nil, nil, fmt.Errorf("%s before: %w", strings.ToLower(request.Kind.Kind), err)
		}
	}
	return object, old, nil
}

// mutate answers with the patch that change makes. The patch is taken between two encodings of our types, so that
// fields that these do not know are left alone.
func mutate[T any](request admission.Request, change func(*T)) admission.Response {
	object, _, err := decode[T](request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	before, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	change(object)
	after, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	operations, err := jsonpatch.CreatePatch(before, after)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	var members struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(request.Object.Raw, &members); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if len(operations) > 0 && members.Spec == nil {
		// Our encoding always has a spec; the object as it was sent has none to add to.
		operations = append([]jsonpatch.Operation{{Operation: "add", Path: "/spec", Value: map[string]any{}}}, operations...)
	}
	return admission.Patched("", operations...)
}

// answer allows, or refuses with all errors in words and, for clients, with their fields.
func answer(kind schema.GroupKind, name string, errs field.ErrorList) admission.Response {
	if len(errs) == 0 {
		return admission.Allowed("")
	}
	status := apierrors.NewInvalid(kind, name, errs).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: false, Result: &status}}
}
