package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// The paths of the webhooks, as in Volcano where it has them.
const (
	pathMutateJob         = "/jobs/mutate"
	pathValidateJob       = "/jobs/validate"
	pathMutateQueue       = "/queues/mutate"
	pathValidateQueue     = "/queues/validate"
	pathMutatePodGroup    = "/podgroups/mutate"
	pathValidatePodGroup  = "/podgroups/validate"
	pathValidateHyperNode = "/hypernodes/validate"
	pathMutateCronJob     = "/cronjobs/mutate"
	pathMutateJobFlow     = "/jobflows/mutate"
	pathValidateCronJob   = "/cronjobs/validate"
	pathValidateJobFlow   = "/jobflows/validate"
	pathValidateTemplate  = "/jobtemplates/validate"
	pathMutatePod         = "/pods/mutate"
	pathMutateAccount     = "/accounts/mutate"
	pathMutateQOS         = "/qoses/mutate"
	pathValidateAccount   = "/accounts/validate"
	pathValidateQOS       = "/qoses/validate"
	pathValidatePod       = "/pods/validate"
)

// hooks implements the webhooks.
type hooks struct {
	queues interface {
		lookup(ctx context.Context) *queueLookup
		currentLookup(ctx context.Context) *queueLookup
	}
	accounts   AccountReader  // nil skips the checks of accounts
	submitted  *SubmittedJobs // nil skips the limits for the number of jobs
	namespaces Getter[*corev1.Namespace]
	jobs       client.Reader                                 // reads jobs and JobTemplates without a cache; nil skips the checks that need them
	reviews    Creator[*authorizationv1.SubjectAccessReview] // checks the permissions of users; nil means that every user may read all jobs
	schedulers []string                                      // names of the schedulers whose pods are checked; the first is the default for jobs
	ids        JobIDs                                        // may be nil
	pods       *podRules
	queueRules schedulingv1beta1.QueueRules
	// maxReplicas is the maximum number of pods of a job; 0 means that only the limit of the kind applies.
	maxReplicas int64
	// recordJobs adds the finalizer of the accounting component to new jobs, and records the changes of accounts and QOS.
	recordJobs bool
	// deletions creates the ConfigMaps with deletions of accounts and QOS.
	deletions Creator[*corev1.ConfigMap]
	// now returns the current time.
	now func() time.Time
	// requireClassUse requires a permission for each PriorityClass that a user names.
	requireClassUse bool
	// requireAccounts requires an account in which the user is listed, for each job.
	requireAccounts bool
}

// handlersByPath returns the webhooks by path.
func (h *hooks) handlersByPath() map[string]admission.HandlerFunc {
	return map[string]admission.HandlerFunc{
		pathMutateJob:         h.mutateJob,
		pathValidateJob:       h.validateHandler(batchv1alpha1.GroupVersion.WithKind("Job")),
		pathMutateQueue:       h.mutateQueue,
		pathValidateQueue:     h.validateHandler(schedulingv1beta1.GroupVersion.WithKind("Queue")),
		pathMutatePodGroup:    h.mutatePodGroup,
		pathValidatePodGroup:  h.validateHandler(schedulingv1beta1.GroupVersion.WithKind("PodGroup")),
		pathValidateHyperNode: h.validateHandler(topologyv1alpha1.GroupVersion.WithKind("HyperNode")),
		pathMutateCronJob:     h.mutateCronJob,
		pathMutateJobFlow:     h.mutateJobFlow,
		pathValidateCronJob:   h.validateHandler(batchv1alpha1.GroupVersion.WithKind("CronJob")),
		pathValidateJobFlow:   h.validateHandler(flowv1alpha1.GroupVersion.WithKind("JobFlow")),
		pathValidateTemplate:  h.validateHandler(flowv1alpha1.GroupVersion.WithKind("JobTemplate")),
		pathValidatePod:       h.validateHandler(corev1.SchemeGroupVersion.WithKind("Pod")),
		pathMutatePod:         h.mutatePod,
		pathMutateAccount:     changeHandler[accountv1alpha1.Account](h, "accounts"),
		pathMutateQOS:         changeHandler[accountv1alpha1.QOS](h, "qoses"),
		pathValidateAccount:   h.validateHandler(accountv1alpha1.GroupVersion.WithKind("Account")),
		pathValidateQOS:       h.validateHandler(accountv1alpha1.GroupVersion.WithKind("QOS")),
	}
}

// boundedHandlers returns the webhooks by path, with limits on their memory.
func (h *hooks) boundedHandlers(b *bounds) map[string]admission.HandlerFunc {
	handlers := h.handlersByPath()
	for path, handle := range handlers {
		handlers[path] = b.limitObjects(handle, strings.HasSuffix(path, "/mutate"))
	}
	return handlers
}

// newHTTPHandler returns an HTTP handler that serves webhooks by path.
func newHTTPHandler(log logr.Logger, b *bounds, handlers map[string]admission.HandlerFunc) (http.Handler, error) {
	mux := http.NewServeMux()
	for path, handle := range handlers {
		hook, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handle}, admission.StandaloneOptions{Logger: log, MetricsPath: path})
		if err != nil {
			return nil, fmt.Errorf("admission: webhook %s: %w", path, err)
		}
		mux.Handle("POST "+path, hook)
	}
	return b.limitBodies(mux), nil
}

func (h *hooks) mutateJob(ctx context.Context, request admission.Request) admission.Response {
	return responseWithPatch(request, func(job *batchv1alpha1.Job) {
		h.writeUser(ctx, &request, job)
		h.assignAccount(ctx, &request, job)
		h.assignQOS(&request, job)
		h.assignQOSClass(&request, job)
		if len(job.Spec.Tasks) > 0 {
			batchv1alpha1.DefaultJob(job, h.schedulers[0])
			h.defaultTimeLimit(ctx, &request, job)
		}
		h.assignNumber(ctx, request, job)
		h.annotateNamespaces(ctx, &request, job)
		if h.recordJobs && request.Operation == admissionv1.Create {
			controllerutil.AddFinalizer(job, keys.Recorded)
		}
	})
}

func (h *hooks) mutateQueue(_ context.Context, request admission.Request) admission.Response {
	return responseWithPatch(request, schedulingv1beta1.DefaultQueue)
}

func (h *hooks) mutatePodGroup(ctx context.Context, request admission.Request) admission.Response {
	return responseWithPatch(request, func(group *schedulingv1beta1.PodGroup) {
		namespaceQueue := ""
		if group.Spec.Queue == "" || group.Spec.Queue == keys.DefaultQueue {
			// If the namespace cannot be read, no queue is filled in, because defaulting fails open.
			if namespace, err := h.namespaces.Get(ctx, request.Namespace, metav1.GetOptions{}); err == nil {
				namespaceQueue = namespace.Annotations[keys.PodQueueName]
			}
		}
		schedulingv1beta1.DefaultPodGroup(group, namespaceQueue)
		h.writeUser(ctx, &request, group)
		h.assignAccount(ctx, &request, group)
		h.assignQOS(&request, group)
	})
}

// decodeObjects parses the object in a request and, for an update, its old version.
func decodeObjects[T any](request admission.Request) (object, old *T, err error) {
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

// responseWithPatch returns a response with the patch for the modifications that change makes. The patch is computed
// between two encodings of the Go type, so that it does not affect fields unknown to the type.
func responseWithPatch[T any](request admission.Request, change func(*T)) admission.Response {
	object, errs := check.Decode[T](request.Object.Raw)
	if len(errs) > 0 {
		return admission.Allowed("") // the schema, or the check of the object, reports the errors
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
		// The Go encoding always has a spec, but the object may lack one, and the patch cannot extend a missing field.
		operations = append([]jsonpatch.Operation{{Operation: "add", Path: "/spec", Value: map[string]any{}}}, operations...)
	}
	return admission.Patched("", operations...)
}

// responseFor returns a response that allows an object if there are no errors. Otherwise, the response rejects the
// object and contains all errors as text and, for clients, with their fields.
func responseFor(kind schema.GroupKind, name string, errs field.ErrorList) admission.Response {
	if len(errs) == 0 {
		return admission.Allowed("")
	}
	status := apierrors.NewInvalid(kind, name, errs).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: false, Result: &status}}
}
