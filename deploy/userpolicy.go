package deploy

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
)

// The names of the policies for the users of jobs, and of their bindings.
const (
	userPolicyName    = "volcano-user-policy"
	podUserPolicyName = "volcano-pod-user-policy"
)

// ImpersonateVerb is the verb on jobs.batch.volcano.sh that permits submitting jobs for other users. The name of the user is
// the resource name, so a role can restrict it to certain users. It does not permit Kubernetes' own impersonation.
const ImpersonateVerb = "impersonate"

// userPolicies returns the policies for the user to whom the usage of a job is charged. The user is in an annotation, which
// admission writes. Without these policies, any user could charge jobs to another user. The policies apply even if no
// webhooks are running.
//
// The second policy is for plain pods, whose PodGroups inherit the annotation. Its selector excludes the pods of Jobs at almost
// no cost to the API server, because the controllers ignore the annotation of pods with this label.
func userPolicies() []runtime.Object {
	changes := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	jobs := userPolicySpec(userOf("oldObject"))
	jobs.MatchConstraints = matchRules(changes,
		admissionregistrationv1.Rule{APIGroups: []string{batchGroup}, APIVersions: []string{"v1alpha1"}, Resources: []string{"jobs", "cronjobs"}},
		admissionregistrationv1.Rule{APIGroups: []string{flowGroup}, APIVersions: []string{"v1alpha1"}, Resources: []string{"jobflows"}},
		admissionregistrationv1.Rule{APIGroups: []string{gangGroup}, APIVersions: []string{"v1beta1"}, Resources: []string{"podgroups"}},
	)
	// A pod that had the label of a Job was not checked when it got its user.
	pods := userPolicySpec(fmt.Sprintf("(oldObject.metadata.?labels[?'%s'].hasValue() ? '' : %s)", keys.JobName, userOf("oldObject")))
	pods.MatchConstraints = matchRules(changes, admissionregistrationv1.Rule{APIGroups: []string{core}, APIVersions: []string{"v1"}, Resources: []string{"pods"}})
	pods.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: keys.JobName, Operator: metav1.LabelSelectorOpDoesNotExist,
	}}}
	return []runtime.Object{
		policyObject(userPolicyName, jobs), policyBinding(userPolicyName),
		policyObject(podUserPolicyName, pods), policyBinding(podUserPolicyName),
	}
}

// userOf returns a CEL expression for the user of an object.
func userOf(object string) string {
	return fmt.Sprintf("%s.metadata.?annotations[?'%s'].orValue('')", object, keys.User)
}

// userPolicySpec returns the rules for the user of an object. A request may name only its own user, unless that user may submit
// for others. After creation, only the user of a PodGroup can change, because the controllers copy it from pods: to a user for
// whom the author may submit, or from such a user to none. oldUser is a CEL expression for the user before an update.
func userPolicySpec(oldUser string) admissionregistrationv1.ValidatingAdmissionPolicySpec {
	userBefore := "(request.operation == 'UPDATE' ? " + oldUser + " : '')"
	maySubmitFor := func(user string) string {
		return "authorizer.group('" + batchGroup + "').resource('jobs').namespace(object.metadata.namespace).name(" + user + ").check('" + ImpersonateVerb + "').allowed()"
	}
	mayNameUser := "variables.user == '' || variables.user == request.userInfo.username || " + maySubmitFor("variables.user")
	mayChangeUser := "request.operation == 'CREATE' || " +
		"(request.resource.resource == 'podgroups' && (variables.user != '' || " + maySubmitFor("variables.userBefore") + "))"
	annotation := "annotation " + keys.User
	return admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConditions: []admissionregistrationv1.MatchCondition{
			{Name: "user-set-or-changed", Expression: userOf("object") + " != " + userBefore},
		},
		Variables: []admissionregistrationv1.Variable{
			{Name: "user", Expression: userOf("object")},
			{Name: "userBefore", Expression: userBefore},
		},
		Validations: []admissionregistrationv1.Validation{
			{
				Expression: mayChangeUser,
				MessageExpression: `'` + annotation + ` cannot be changed from "' + variables.userBefore + '" to "' + variables.user + '": ` +
					`restore its value, or delete the object and create it again'`,
				Reason: new(metav1.StatusReasonForbidden),
			},
			{
				Expression: mayNameUser,
				MessageExpression: `'` + annotation + ` names user "' + variables.user + '", but you are "' + request.userInfo.username + '": ` +
					`remove it to submit as yourself; to submit for other users, ask an administrator for the verb ` + ImpersonateVerb + ` on jobs.` + batchGroup + `'`,
				Reason: new(metav1.StatusReasonForbidden),
			},
		},
	}
}
