package sim

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

// admissionState is the condition of the webhooks.
type admissionState int

const (
	admissionUp admissionState = iota
	admissionDown
	admissionRemoved // the webhook configurations have been deleted
)

func storageFullError() error {
	return apierrors.NewInternalError(errors.New("etcdserver: mvcc: database space exceeded"))
}

// admit plays the part of the webhooks for jobs, queues and PodGroups: the API server's rules for calling them, and
// their defaults and checks, which are pure functions of package api.
func (w *World) admit(r *apiserver.Request, old, object client.Object) (client.Object, error) {
	if object == nil || r.Subresource != "" || w.admission == admissionRemoved {
		return object, nil
	}
	switch o := object.(type) {
	case *batchv1alpha1.Job:
		if before, ok := old.(*batchv1alpha1.Job); ok && equality.Semantic.DeepEqual(before.Spec, o.Spec) {
			return object, nil
		}
		if w.admission == admissionDown {
			return nil, webhookUnavailable("validatejob.volcano.sh")
		}
		batchv1alpha1.DefaultJob(o, keys.DefaultSchedulerName)
	case *schedulingv1beta1.Queue:
		if before, ok := old.(*schedulingv1beta1.Queue); ok && equality.Semantic.DeepEqual(before.Spec, o.Spec) {
			return object, nil
		}
		if w.admission == admissionDown {
			return nil, webhookUnavailable("validatequeue.volcano.sh")
		}
		schedulingv1beta1.DefaultQueue(o)
	default:
		return object, nil
	}
	return w.checkObject(old, object)
}

func webhookUnavailable(name string) error {
	return apierrors.NewInternalError(errors.New("failed calling webhook \"" + name + "\": connect: connection refused"))
}

// checkObject runs the validation of the webhooks.
func (w *World) checkObject(old, object client.Object) (client.Object, error) {
	kind := w.kindOf(object)
	around := &check.Around{SchedulerNames: []string{keys.DefaultSchedulerName}, Queues: w.queueLookup()}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	verdict := check.Verdict{}
	if old == nil {
		verdict = check.Create(kind, raw, around)
	} else {
		before, err := json.Marshal(old)
		if err != nil {
			return nil, err
		}
		verdict = check.Update(kind, before, raw, around)
	}
	if len(verdict.Errors) > 0 {
		return nil, apierrors.NewInvalid(kind.GroupKind(), object.GetName(), verdict.Errors)
	}
	return object, nil
}

func (w *World) queueLookup() schedulingv1beta1.QueueLookup {
	var all []*schedulingv1beta1.Queue
	for _, q := range w.state.queues {
		all = append(all, q)
	}
	return schedulingv1beta1.NewQueueLookup(all...)
}
