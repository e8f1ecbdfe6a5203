package admission

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
)

// assignQOS writes the default QOS of its user and account into a new object without a QOS. An update by a client that omits
// the QOS does not remove it. Without any QOS object, the label is free text and is left unchanged.
func (h *hooks) assignQOS(request *admission.Request, object metav1.Object) {
	if h.accounts == nil || object.GetLabels()[keys.QOS] != "" {
		return
	}
	tree := h.accounts.Accounts()
	if !tree.HasQOS() {
		return
	}
	switch request.Operation {
	case admissionv1.Create:
		check.DefaultQOS(object, tree)
	case admissionv1.Update:
		if _, old, err := decodeObjects[metav1.PartialObjectMetadata](*request); err == nil {
			check.SetQOS(object, old.Labels[keys.QOS])
		}
	}
}

// assignQOSClass writes the priority class of its QOS into a job without a priority class. An update does not add the class to
// a job that was created without one.
func (h *hooks) assignQOSClass(request *admission.Request, job *batchv1alpha1.Job) {
	if h.accounts == nil {
		return
	}
	if request.Operation == admissionv1.Update {
		_, old, err := decodeObjects[batchv1alpha1.Job](*request)
		if err != nil {
			return
		}
		hasSameQOS := old.Labels[keys.QOS] == job.Labels[keys.QOS]
		if hasSameQOS && old.Spec.PriorityClassName == "" {
			return
		}
	}
	check.DefaultQOSClass(job, h.accounts.Accounts())
}

// isGrantedByQOS reports whether a Job or a PodGroup has a priority class because of its QOS, and an administrator has listed
// this QOS for the user. The user then needs no permission for the class. The labels of a CronJob, a JobFlow or a JobTemplate
// grant nothing, because jobs that are created from it have other labels, and because every author may write them.
func (h *hooks) isGrantedByQOS(request *admission.Request, class string) bool {
	hasCheckedLabels := request.Kind.Kind == "Job" || request.Kind.Kind == "PodGroup"
	if h.accounts == nil || !hasCheckedLabels {
		return false
	}
	job := &metav1.PartialObjectMetadata{}
	if json.Unmarshal(request.Object.Raw, job) != nil {
		return false
	}
	tree := h.accounts.Accounts()
	qos := tree.QOS(job.Labels[keys.QOS])
	if qos == nil || qos.Spec.PriorityClassName != class {
		return false
	}
	account, user := job.Labels[keys.Account], batchv1alpha1.UserOf(job)
	return len(tree.ListedQOS(account, user)) > 0 && tree.PermitsQOS(account, user, qos.Name)
}

// rejectQOSChange rejects an update that changes the QOS of a job.
func (h *hooks) rejectQOSChange(ctx context.Context, request *admission.Request) (field.ErrorList, error) {
	if request.Operation != admissionv1.Update || h.accounts == nil || !h.accounts.Accounts().HasQOS() {
		return nil, nil
	}
	return h.rejectLabelChange(ctx, request, qosLabel)
}
