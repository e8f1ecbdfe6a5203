package deploy

import (
	"cmp"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/admission/matchcondition"
)

// The names of the policies that keep pods and PodGroups in their job and queue. Each binding has the name of its policy.
const (
	podMembershipPolicyName   = "volcano-pod-membership-policy"
	groupMembershipPolicyName = "volcano-podgroup-membership-policy"
)

// membershipField is a part of an object that users may not change: it determines to which PodGroup, job or queue the object
// belongs, or how much it has used.
type membershipField struct {
	// noun names the part in messages.
	noun string
	// value returns a CEL expression for the text of the part in object or oldObject. It is empty if the part is missing.
	value func(object string) string
	// reason completes a message: why users may not change the part.
	reason string
	// remedy says what users can do instead. If it is empty, it is that of the policy.
	remedy string
	// isMeasured is true if only measurements set the part. Users may not set it, even if it is missing.
	isMeasured bool
}

// belongs is the reason of most parts.
const belongs = "it determines to which job, queue and account the object belongs"

func annotationField(key string) membershipField {
	return membershipField{noun: "annotation " + key, reason: belongs, value: func(object string) string {
		return fmt.Sprintf("%s.metadata.?annotations[?'%s'].orValue('')", object, key)
	}}
}

func labelField(key string) membershipField {
	return membershipField{noun: "label " + key, reason: belongs, value: func(object string) string {
		return fmt.Sprintf("%s.metadata.?labels[?'%s'].orValue('')", object, key)
	}}
}

// usageField is the measured usage of a pod. Process nodes and vc-accounting write it through pods/status.
func usageField() membershipField {
	usage := annotationField(keys.Used)
	usage.reason, usage.remedy, usage.isMeasured = "it holds the measured usage of the pod", "leave this annotation unchanged", true
	return usage
}

// podGroupField is the PodGroup of a pod, as keys.PodGroupOf reads it.
func podGroupField() membershipField {
	group, fallback := annotationField(keys.GroupName), annotationField(keys.VolcanoGroupName)
	return membershipField{noun: group.noun, reason: belongs, value: func(object string) string {
		return fmt.Sprintf("(%[1]s != '' ? %[1]s : %[2]s)", group.value(object), fallback.value(object))
	}}
}

// jobOwnerField is the UID of the Job that controls an object.
func jobOwnerField() membershipField {
	return membershipField{noun: "the Job in ownerReferences", reason: belongs, value: func(object string) string {
		return object + ".metadata.?ownerReferences.orValue([]).filter(o, o.?controller.orValue(false) && o.kind == 'Job' && " +
			"o.apiVersion.startsWith('" + batchGroup + "/')).map(o, string(o.uid)).join(' ')"
	}}
}

// podMembershipFields returns the parts of pods by which the scheduler, the controllers and the recorder find their PodGroup,
// job and queue, their place in the job, and their usage.
func podMembershipFields() []membershipField {
	return []membershipField{
		podGroupField(),
		labelField(keys.JobName), annotationField(keys.JobName),
		labelField(keys.QueueName), annotationField(keys.QueueName),
		labelField(keys.TaskSpec), annotationField(keys.TaskSpec),
		annotationField(keys.TaskIndex), annotationField(keys.JobVersion), labelField(keys.ArrayIndex),
		usageField(),
	}
}

// membershipPolicies returns two admission policies: one that keeps pods in their PodGroup, job and queue, and one that keeps
// the PodGroups of jobs in their queue. Without the first, a user who may patch a pod could move it out of its PodGroup, and so
// escape the limits and the budget of its account. Some operators set the PodGroup of a pod only after they have created the
// pod, so a missing value may be set until the pod has a node. Without the second, a user could move the PodGroup of a job to
// another queue than the job's, because no webhook checks this.
//
// The first policy also keeps the measured usage of pods, which accounting records.
//
// The policies do not cover pods/status, which kubelets write often and users may not write.
func membershipPolicies() []runtime.Object {
	updates := []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	pods := membershipSpec(podMembershipFields(), func(f membershipField) string {
		if f.isMeasured {
			return "false"
		}
		return fmt.Sprintf("%s == '' && object.spec.?nodeName.orValue('') == ''", f.value("oldObject"))
	}, "delete the pod, and create it again with the new value")
	pods.MatchConstraints = matchRules(updates, admissionregistrationv1.Rule{APIGroups: []string{core}, APIVersions: []string{"v1"}, Resources: []string{"pods"}})
	queue := membershipField{noun: "spec.queue", reason: belongs, value: func(object string) string { return object + ".?spec.?queue.orValue('')" }}
	groups := membershipSpec([]membershipField{queue}, func(membershipField) string {
		return jobOwnerField().value("oldObject") + " == ''"
	}, "delete the job, and submit it again")
	groups.MatchConstraints = matchRules(updates, admissionregistrationv1.Rule{APIGroups: []string{gangGroup}, APIVersions: []string{"v1beta1"}, Resources: []string{"podgroups"}})
	return []runtime.Object{
		policyObject(podMembershipPolicyName, pods), policyBinding(podMembershipPolicyName),
		policyObject(groupMembershipPolicyName, groups), policyBinding(groupMembershipPolicyName),
	}
}

// membershipSpec returns a policy that rejects changes of the given fields, and of the Job that owns an object. isExempt
// returns a CEL expression that permits a change of a field if it is true. The controllers of Kubernetes may change the owner,
// because the garbage collector removes owner references, for example after kubectl delete --cascade=orphan.
func membershipSpec(fields []membershipField, isExempt func(membershipField) string, remedy string) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	differs := func(f membershipField) string { return f.value("object") + " != " + f.value("oldObject") }
	var spec admissionregistrationv1.ValidatingAdmissionPolicySpec
	var changes []string
	validate := func(f membershipField, exemption string) {
		changes = append(changes, differs(f))
		spec.Validations = append(spec.Validations, admissionregistrationv1.Validation{
			Expression: fmt.Sprintf("!(%s) || (%s)", differs(f), exemption),
			MessageExpression: fmt.Sprintf(`'%s cannot be changed from "' + %s + '" to "' + %s + '", because %s: %s'`,
				f.noun, f.value("oldObject"), f.value("object"), f.reason, cmp.Or(f.remedy, remedy)),
			Reason: new(metav1.StatusReasonForbidden),
		})
	}
	for _, f := range fields {
		validate(f, isExempt(f))
	}
	validate(jobOwnerField(), isControllerOfKubernetes)
	// It is one condition, because CEL evaluates the authorizer only if a field has changed. So other updates cost no
	// permission check.
	spec.MatchConditions = []admissionregistrationv1.MatchCondition{{
		Name: "not-changed-by-our-controllers", Expression: "(" + strings.Join(changes, " || ") + ") && !(" + matchcondition.IsOurController + ")",
	}}
	return spec
}
