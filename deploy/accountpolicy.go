package deploy

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
)

// accountPolicyName and podAccountPolicyName are the names of the policies for accounts, and of their bindings.
const (
	accountPolicyName    = "volcano-account-policy"
	podAccountPolicyName = "volcano-pod-account-policy"
)

// accountPolicies returns the policies for the account of PodGroups, and of the pods of Jobs, to which their resources are
// charged. The controllers copy it from the Job. Without the policies, a user could change it afterwards, or create an object
// that seems to belong to a Job, which no webhook checks. The webhook checks the account of all other new PodGroups, because
// CEL cannot read accounts. Users who may update an account may move objects to it.
//
// The selector of the policy for pods excludes all pods that have no account or no Job, so that they cost the API server
// almost nothing. The scheduler ignores the account of other pods.
func accountPolicies() []runtime.Object {
	const belongsToJob = `object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == 'Job' && o.apiVersion.startsWith('` + batchGroup + `/'))`
	isNewGroupOfJob := accountOf("object") + " != '' && " + belongsToJob
	groups := accountPolicySpec("PodGroup", "request.operation == 'CREATE' ? "+isNewGroupOfJob+" : "+accountOf("object")+" != "+accountOf("oldObject"))
	groups.MatchConstraints = matchRules(createAndUpdate, admissionregistrationv1.Rule{APIGroups: []string{gangGroup}, APIVersions: []string{"v1beta1"}, Resources: []string{"podgroups"}})
	isNewPodOfJob := fmt.Sprintf("request.operation == 'CREATE' || !oldObject.metadata.?labels[?'%s'].hasValue()", keys.JobName)
	changesAccount := accountOf("object") + " != " + accountOf("oldObject")
	changesUser := userOf("object") + " != " + userOf("oldObject")
	pods := accountPolicySpec("pod", strings.Join([]string{isNewPodOfJob, changesAccount, changesUser}, " || "))
	pods.MatchConstraints = matchRules(createAndUpdate, admissionregistrationv1.Rule{APIGroups: []string{core}, APIVersions: []string{"v1"}, Resources: []string{"pods"}})
	pods.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: keys.JobName, Operator: metav1.LabelSelectorOpExists},
		{Key: keys.Account, Operator: metav1.LabelSelectorOpExists},
	}}
	return []runtime.Object{
		policyObject(accountPolicyName, groups), policyBinding(accountPolicyName),
		policyObject(podAccountPolicyName, pods), policyBinding(podAccountPolicyName),
	}
}

var createAndUpdate = []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}

// accountOf returns a CEL expression for the account of an object.
func accountOf(object string) string {
	return fmt.Sprintf("%s.metadata.?labels[?'%s'].orValue('')", object, keys.Account)
}

// accountPolicySpec returns the rule for the account of an object of a kind. changed is a CEL expression that reports whether
// a request sets or changes the account.
func accountPolicySpec(kind, changed string) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	return admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "account-set-or-changed", Expression: changed}},
		Variables:       []admissionregistrationv1.Variable{{Name: "account", Expression: accountOf("object")}},
		Validations: []admissionregistrationv1.Validation{{
			Expression: "authorizer.group('" + batchGroup + "').resource('jobs').subresource('status').check('update').allowed() || " +
				"authorizer.group('" + accountGroup + "').resource('accounts').name(variables.account).check('update').allowed()",
			MessageExpression: `'label ` + keys.Account + ` of a ` + kind + ` cannot be set or changed to "' + variables.account + '": ` +
				`submit a job with this account instead, or ask an administrator'`,
			Reason: new(metav1.StatusReasonForbidden),
		}},
	}
}
