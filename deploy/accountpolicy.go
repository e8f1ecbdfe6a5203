package deploy

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
)

// accountPolicyName is the name of the policy for the accounts of PodGroups, and of its binding.
const accountPolicyName = "volcano-account-policy"

// accountPolicy returns the policy for the account of a PodGroup, to which its resources are charged. The controllers copy
// it from the Job. Without the policy, a user could change it afterwards, or create a PodGroup that seems to belong to a
// Job, which the webhook for PodGroups does not check. The webhook checks the account of all other new PodGroups, because
// CEL cannot read accounts. Users who may update an account may move PodGroups to it.
func accountPolicy() []runtime.Object {
	accountOf := func(object string) string {
		return fmt.Sprintf("%s.metadata.?labels[?'%s'].orValue('')", object, keys.Account)
	}
	const belongsToJob = `object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == 'Job' && o.apiVersion.startsWith('` + batchGroup + `/'))`
	spec := admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: matchRules([]admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			admissionregistrationv1.Rule{APIGroups: []string{gangGroup}, APIVersions: []string{"v1beta1"}, Resources: []string{"podgroups"}}),
		MatchConditions: []admissionregistrationv1.MatchCondition{
			{Name: "account-set-or-changed", Expression: "request.operation == 'CREATE' ? " + accountOf("object") + " != '' && " + belongsToJob + " : " +
				accountOf("object") + " != " + accountOf("oldObject")},
		},
		Variables: []admissionregistrationv1.Variable{
			{Name: "account", Expression: accountOf("object")},
		},
		Validations: []admissionregistrationv1.Validation{{
			Expression: "authorizer.group('" + batchGroup + "').resource('jobs').subresource('status').check('update').allowed() || " +
				"authorizer.group('" + accountGroup + "').resource('accounts').name(variables.account).check('update').allowed()",
			MessageExpression: `'label ` + keys.Account + ` of a PodGroup cannot be set or changed to "' + variables.account + '": ` +
				`submit a job with this account instead, or ask an administrator'`,
			Reason: new(metav1.StatusReasonForbidden),
		}},
	}
	return []runtime.Object{policyObject(accountPolicyName, spec), policyBinding(accountPolicyName)}
}
