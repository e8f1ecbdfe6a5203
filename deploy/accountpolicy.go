package deploy

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
)

// chargedLabel is a label of PodGroups and pods that names the object whose limits count them.
type chargedLabel struct {
	key string
	// noun is the word for the named object in messages and in the names of policies. resource is its resource in the
	// API.
	noun, resource string
}

// chargedLabels returns the labels that name the account and the QOS.
func chargedLabels() []chargedLabel {
	return []chargedLabel{{keys.Account, "account", "accounts"}, {keys.QOS, "qos", "qoses"}}
}

// accountPolicies returns the policies for the account and the QOS of PodGroups, and of the pods of Jobs, to which their
// resources are charged. The controllers copy them from the Job. Without the policies, a user could change them afterwards, or
// create an object that seems to belong to a Job, which no webhook checks. The webhook checks the account and the QOS of all
// other new PodGroups, because CEL cannot read accounts. Users who may update an account or a QOS may move objects to it.
//
// The selector of the policy for pods excludes all pods that have no such label or no Job, so that they cost the API server
// almost nothing. The scheduler ignores the labels of other pods.
func accountPolicies() []runtime.Object {
	var policies []runtime.Object
	for _, label := range chargedLabels() {
		policies = append(policies, label.policies()...)
	}
	return policies
}

// policies returns the policies for the label of PodGroups and of pods.
func (l chargedLabel) policies() []runtime.Object {
	const belongsToJob = `object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == 'Job' && o.apiVersion.startsWith('` + batchGroup + `/'))`
	isNewGroupOfJob := l.valueOf("object") + " != '' && " + belongsToJob
	groups := l.policySpec("PodGroup", "request.operation == 'CREATE' ? "+isNewGroupOfJob+" : "+l.valueOf("object")+" != "+l.valueOf("oldObject"))
	groups.MatchConstraints = matchRules(createAndUpdate, admissionregistrationv1.Rule{APIGroups: []string{gangGroup}, APIVersions: []string{"v1beta1"}, Resources: []string{"podgroups"}})
	isNewPodOfJob := fmt.Sprintf("request.operation == 'CREATE' || !oldObject.metadata.?labels[?'%s'].hasValue()", keys.JobName)
	changesLabel := l.valueOf("object") + " != " + l.valueOf("oldObject")
	changesUser := userOf("object") + " != " + userOf("oldObject")
	pods := l.policySpec("pod", strings.Join([]string{isNewPodOfJob, changesLabel, changesUser}, " || "))
	pods.MatchConstraints = matchRules(createAndUpdate, admissionregistrationv1.Rule{APIGroups: []string{core}, APIVersions: []string{"v1"}, Resources: []string{"pods"}})
	pods.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: keys.JobName, Operator: metav1.LabelSelectorOpExists},
		{Key: l.key, Operator: metav1.LabelSelectorOpExists},
	}}
	ofGroups, ofPods := "volcano-"+l.noun+"-policy", "volcano-pod-"+l.noun+"-policy"
	return []runtime.Object{policyObject(ofGroups, groups), policyBinding(ofGroups), policyObject(ofPods, pods), policyBinding(ofPods)}
}

var createAndUpdate = []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}

// valueOf returns a CEL expression for the label's value in an object.
func (l chargedLabel) valueOf(object string) string {
	return fmt.Sprintf("%s.metadata.?labels[?'%s'].orValue('')", object, l.key)
}

// policySpec returns the rule for the label of an object of a kind. changed is a CEL expression that reports whether a request
// sets or changes the label.
func (l chargedLabel) policySpec(kind, changed string) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	return admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: l.noun + "-set-or-changed", Expression: changed}},
		Variables:       []admissionregistrationv1.Variable{{Name: l.noun, Expression: l.valueOf("object")}},
		Validations: []admissionregistrationv1.Validation{{
			Expression: "authorizer.group('" + batchGroup + "').resource('jobs').subresource('status').check('update').allowed() || " +
				"authorizer.group('" + accountGroup + "').resource('" + l.resource + "').name(variables." + l.noun + ").check('update').allowed()",
			MessageExpression: `'label ` + l.key + ` of a ` + kind + ` cannot be set or changed to "' + variables.` + l.noun + ` + '": ` +
				`submit a job with this ` + l.noun + ` instead, or ask an administrator'`,
			Reason: new(metav1.StatusReasonForbidden),
		}},
	}
}
