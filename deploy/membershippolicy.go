package deploy

import (
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
	newPodPolicyName          = "volcano-new-pod-policy"
	groupMembershipPolicyName = "volcano-podgroup-membership-policy"
)

// protectedField is a part of an object that users may not change: it determines to which PodGroup, job or queue the object
// belongs, or how much it has used.
type protectedField struct {
	// noun names the part in messages.
	noun string
	// value returns a CEL expression for the text of the part in object or oldObject. It is empty if the part is missing.
	value func(object string) string
	// exemption is a CEL expression. If it is true, users may change the part.
	exemption string
	// reason completes a message: why users may not change the part.
	reason string
	// remedy describes what users can do if a policy rejects a change of the part.
	remedy string
	// remedyForNew describes what users can do if a policy rejects a new object that has the part.
	remedyForNew string
}

// belongs is the reason of most parts.
const belongs = "it determines to which job, queue and account the object belongs"

// annotationField returns a protected annotation of pods.
func annotationField(key string) protectedField { return podField("annotation", "annotations", key) }

// labelField returns a protected label of pods.
func labelField(key string) protectedField { return podField("label", "labels", key) }

func podField(noun, parent, key string) protectedField {
	return settableUntilPlaced(noun+" "+key, func(object string) string {
		return fmt.Sprintf("%s.metadata.?%s[?'%s'].orValue('')", object, parent, key)
	})
}

// settableUntilPlaced returns a protected field of pods that users may set until the pod has a node. Some operators set the
// PodGroup of a pod only after they have created the pod.
func settableUntilPlaced(noun string, value func(object string) string) protectedField {
	return protectedField{
		noun: noun, value: value, exemption: value("oldObject") + " == '' && object.spec.?nodeName.orValue('') == ''",
		reason: belongs, remedy: "delete the pod, and create it again with the new value",
	}
}

// podGroupField is the PodGroup of a pod, as keys.PodGroupOf reads it.
func podGroupField() protectedField {
	group, fallback := annotationField(keys.GroupName), annotationField(keys.VolcanoGroupName)
	return settableUntilPlaced(group.noun, func(object string) string {
		return fmt.Sprintf("(%[1]s != '' ? %[1]s : %[2]s)", group.value(object), fallback.value(object))
	})
}

// usageField is the measured usage of a pod. Process nodes and vc-accounting write it through pods/status. It is protected
// even if it is missing.
func usageField() protectedField {
	return protectedField{
		noun: "annotation " + keys.Used, value: annotationField(keys.Used).value, exemption: "false",
		reason: "it holds the measured usage of the pod", remedy: "leave this annotation unchanged",
		remedyForNew: "remove it from the pod or from the template of its pods",
	}
}

// jobOwnerField is the UID of the Job that controls a pod. The controllers of Kubernetes may change the owner, because the
// garbage collector removes owner references, for example after kubectl delete --cascade=orphan.
func jobOwnerField() protectedField {
	return protectedField{
		noun: "the Job in ownerReferences", value: jobOwnerOf, exemption: isControllerOfKubernetes,
		reason: belongs, remedy: "delete the pod, and create it again with the new value",
		remedyForNew: "remove this owner reference; to add pods to a job, increase the replicas of a task",
	}
}

// jobOwnerOf returns a CEL expression for the UID of the Job that controls an object.
func jobOwnerOf(object string) string {
	return object + ".metadata.?ownerReferences.orValue([]).filter(o, o.?controller.orValue(false) && o.kind == 'Job' && " +
		"o.apiVersion.startsWith('" + batchGroup + "/')).map(o, string(o.uid)).join(' ')"
}

// podFields returns the parts of pods by which the scheduler, the controllers and the recorder find their PodGroup, job and
// queue, their place in the job, and their usage.
func podFields() []protectedField {
	return []protectedField{
		podGroupField(),
		labelField(keys.JobName), annotationField(keys.JobName),
		labelField(keys.QueueName), annotationField(keys.QueueName),
		labelField(keys.TaskSpec), annotationField(keys.TaskSpec),
		annotationField(keys.TaskIndex), annotationField(keys.JobVersion), labelField(keys.ArrayIndex),
		usageField(), jobOwnerField(),
	}
}

// groupFields returns the parts of PodGroups by which their queue and their job are found. A PodGroup that belongs to no job
// may move to another queue.
func groupFields() []protectedField {
	const resubmit = "delete the job, and submit it again"
	owner := jobOwnerField()
	owner.remedy = resubmit
	return []protectedField{
		{
			noun: "spec.queue", value: func(object string) string { return object + ".?spec.?queue.orValue('')" },
			exemption: jobOwnerOf("oldObject") + " == ''", reason: belongs, remedy: resubmit,
		},
		owner,
	}
}

// membershipPolicies returns three admission policies:
//   - The first keeps pods in their PodGroup, job and queue. Without it, a user who may patch a pod could move it out of its
//     PodGroup, and so escape the limits and the budget of its account. It also protects the measured usage of pods, which
//     accounting records.
//   - The second rejects new pods with a forged owner or forged usage, which accounting would record.
//   - The third keeps the PodGroups of jobs in the queue of their job. No webhook checks this.
//
// The policies do not cover pods/status, which kubelets write often and users may not write.
func membershipPolicies() []runtime.Object {
	podRule := admissionregistrationv1.Rule{APIGroups: []string{core}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}
	groupRule := admissionregistrationv1.Rule{APIGroups: []string{gangGroup}, APIVersions: []string{"v1beta1"}, Resources: []string{"podgroups"}}
	pods, groups := unchangedSpec(podRule, podFields()), unchangedSpec(groupRule, groupFields())
	newPods := unsetSpec(podRule, []protectedField{usageField(), jobOwnerField()})
	return []runtime.Object{
		policyObject(podMembershipPolicyName, pods), policyBinding(podMembershipPolicyName),
		policyObject(newPodPolicyName, newPods), policyBinding(newPodPolicyName),
		policyObject(groupMembershipPolicyName, groups), policyBinding(groupMembershipPolicyName),
	}
}

// unchangedSpec returns a policy that rejects changes of the given fields.
func unchangedSpec(rule admissionregistrationv1.Rule, fields []protectedField) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	var changes []string
	var validations []admissionregistrationv1.Validation
	for _, f := range fields {
		before, after := f.value("oldObject"), f.value("object")
		isChanged := after + " != " + before
		changes = append(changes, isChanged)
		validations = append(validations, admissionregistrationv1.Validation{
			Expression: fmt.Sprintf("!(%s) || (%s)", isChanged, f.exemption),
			MessageExpression: fmt.Sprintf(`'%s cannot be changed from "' + %s + '" to "' + %s + '", because %s: %s'`,
				f.noun, before, after, f.reason, f.remedy),
			Reason: new(metav1.StatusReasonForbidden),
		})
	}
	return protectingSpec(admissionregistrationv1.Update, rule, "not-changed-by-our-controllers", changes, validations)
}

// unsetSpec returns a policy that rejects new objects with any of the given fields.
func unsetSpec(rule admissionregistrationv1.Rule, fields []protectedField) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	var set []string
	var validations []admissionregistrationv1.Validation
	for _, f := range fields {
		value := f.value("object")
		set = append(set, value+" != ''")
		validations = append(validations, admissionregistrationv1.Validation{
			Expression:        value + " == ''",
			MessageExpression: fmt.Sprintf(`'%s cannot be set to "' + %s + '", because %s: %s'`, f.noun, value, f.reason, f.remedyForNew),
			Reason:            new(metav1.StatusReasonForbidden),
		})
	}
	return protectingSpec(admissionregistrationv1.Create, rule, "not-set-by-our-controllers", set, validations)
}

// protectingSpec returns a policy with validations, for the requests of users in which one of the conditions is true. There is
// one match condition, so that CEL evaluates the authorizer only for these requests. Others cost no permission check.
func protectingSpec(operation admissionregistrationv1.OperationType, rule admissionregistrationv1.Rule, name string, conditions []string,
	validations []admissionregistrationv1.Validation,
) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	return admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: matchRules([]admissionregistrationv1.OperationType{operation}, rule),
		MatchConditions: []admissionregistrationv1.MatchCondition{{
			Name: name, Expression: "(" + strings.Join(conditions, " || ") + ") && !(" + matchcondition.IsOurController + ")",
		}},
		Validations: validations,
	}
}
