package deploy

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// commandPolicyName is the name of the policy for Commands and of its binding.
const commandPolicyName = "volcano-command-policy"

// The names of the webhook configurations, which are the same as in Volcano where it has them. The configurations are installed empty.
// vcd fills them in, including the certificate authority that it creates, and re-creates them if they are deleted.
// Uninstalling vc removes them.
var (
	mutatingConfigurations = []string{
		"volcano-admission-service-accounts-mutate",
		"volcano-admission-service-cronjobs-mutate",
		"volcano-admission-service-jobflows-mutate",
		"volcano-admission-service-jobs-mutate",
		"volcano-admission-service-podgroups-mutate",
		"volcano-admission-service-pods-mutate",
		"volcano-admission-service-qoses-mutate",
		"volcano-admission-service-queues-mutate",
	}
	validatingConfigurations = []string{
		"volcano-admission-service-accounts-validate",
		"volcano-admission-service-hypernodes-validate",
		"volcano-admission-service-cronjobs-validate",
		"volcano-admission-service-jobflows-validate",
		"volcano-admission-service-jobtemplates-validate",
		"volcano-admission-service-jobs-validate",
		"volcano-admission-service-podgroups-validate",
		"volcano-admission-service-pods-validate",
		"volcano-admission-service-qoses-validate",
		"volcano-admission-service-queues-validate",
	}
)

func webhooks() []runtime.Object {
	kind := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: kind}
	}
	var objects []runtime.Object
	for _, name := range mutatingConfigurations {
		objects = append(objects, &admissionregistrationv1.MutatingWebhookConfiguration{
			TypeMeta: kind("MutatingWebhookConfiguration"), ObjectMeta: metav1.ObjectMeta{Name: name},
		})
	}
	for _, name := range validatingConfigurations {
		objects = append(objects, &admissionregistrationv1.ValidatingWebhookConfiguration{
			TypeMeta: kind("ValidatingWebhookConfiguration"), ObjectMeta: metav1.ObjectMeta{Name: name},
		})
	}
	return objects
}

// registryPolicyName is the name of the policy for APIServices and of its binding.
const registryPolicyName = "volcano-apiservice-policy"

// registryPolicy returns the policy that permits the controllers and accounting to create only their own APIService. It
// is necessary because RBAC rules cannot restrict the names of objects to create.
func registryPolicy() []runtime.Object {
	mayRegister := func(account, name string) string {
		return `(request.userInfo.username != 'system:serviceaccount:` + Namespace + `:` + account + `' || object.metadata.name == '` + name + `')`
	}
	return policy(registryPolicyName, admissionregistrationv1.Rule{
		APIGroups: []string{registryGroup}, APIVersions: []string{"v1"}, Resources: []string{"apiservices"},
	}, []admissionregistrationv1.OperationType{admissionregistrationv1.Create}, admissionregistrationv1.Validation{
		Expression: mayRegister(ControllersAccount, "v1."+jobsummary.GroupName) + " && " + mayRegister(AccountingAccount, accountingRegistration),
		Message:    "the controllers may register only v1." + jobsummary.GroupName + ", and accounting only " + accountingRegistration,
		Reason:     new(metav1.StatusReasonForbidden),
	})
}

// dependencyPolicyName is the name of the policy for jobs that depend on jobs in other namespaces, and of its
// binding.
const dependencyPolicyName = "volcano-dependency-policy"

// dependencyPolicy returns the policy for the annotation that lists the namespaces in which a job may wait for other
// jobs. The annotation may list only namespaces in which its author may read jobs. The policy also applies if no
// webhooks are running. It ignores updates that change neither this annotation nor the dependency.
func dependencyPolicy() []runtime.Object {
	value := func(object, key string) string { return object + ".metadata.?annotations[?'" + key + "'].orValue('')" }
	note := value("object", keys.DependencyNamespaces)
	same := func(key string) string { return value("object", key) + " == " + value("oldObject", key) }
	return policy(dependencyPolicyName, admissionregistrationv1.Rule{
		APIGroups: []string{batchGroup}, APIVersions: []string{"v1alpha1"}, Resources: []string{"jobs"},
	}, []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}, admissionregistrationv1.Validation{
		Expression: note + ` == '' || (request.operation == 'UPDATE' && ` + same(keys.DependencyNamespaces) + ` && ` + same(keys.Dependency) + `) || ` +
			note + `.split(',').all(n, authorizer.group('` + batchGroup + `').resource('jobs').namespace(n).check('get').allowed())`,
		Message: "annotation " + keys.DependencyNamespaces + " names a namespace in which you may not read jobs: remove it; admission sets it",
		Reason:  new(metav1.StatusReasonForbidden),
	})
}

// commandPolicy returns the policy for Commands. It is necessary because a Command, which is namespaced, can open or close a
// Queue, which is cluster-scoped. The policy therefore requires that a user who creates such a Command has the permission to
// update that Queue.
func commandPolicy() []runtime.Object {
	changes := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	return policy(commandPolicyName, admissionregistrationv1.Rule{
		APIGroups: []string{busGroup}, APIVersions: []string{"v1alpha1"}, Resources: []string{"commands"},
	}, changes, admissionregistrationv1.Validation{
		Expression: `!has(object.target) || object.target.kind != 'Queue' || ` +
			`authorizer.group('` + gangGroup + `').resource('queues').name(object.target.name).check('update').allowed()`,
		MessageExpression: `'user "' + request.userInfo.username + '" cannot update queues.` + gangGroup + ` "' + object.target.name + '", and so not command it'`,
		Reason:            new(metav1.StatusReasonForbidden),
	})
}

// policies returns the admission policies of the installation, which the API server evaluates. All have a binding except the
// policy for the use of queues, which is therefore off by default.
func policies() []runtime.Object {
	return slices.Concat(commandPolicy(), registryPolicy(), dependencyPolicy(), userPolicies(), accountPolicies(), membershipPolicies(), queueUsePolicy())
}

// policy returns a ValidatingAdmissionPolicy with one rule and one validation, and its binding.
func policy(name string, about admissionregistrationv1.Rule, operations []admissionregistrationv1.OperationType, validation admissionregistrationv1.Validation) []runtime.Object {
	spec := admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: matchRules(operations, about),
		Validations:      []admissionregistrationv1.Validation{validation},
	}
	return []runtime.Object{policyObject(name, spec), policyBinding(name)}
}

// matchRules returns the constraints that match the given operations on objects of any of the rules.
func matchRules(operations []admissionregistrationv1.OperationType, rules ...admissionregistrationv1.Rule) *admissionregistrationv1.MatchResources {
	matched := &admissionregistrationv1.MatchResources{}
	for _, rule := range rules {
		matched.ResourceRules = append(matched.ResourceRules, admissionregistrationv1.NamedRuleWithOperations{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{Operations: operations, Rule: rule},
		})
	}
	return matched
}

func policyType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: kind}
}

// policyObject returns a policy that rejects a request if the policy cannot be evaluated.
func policyObject(name string, spec admissionregistrationv1.ValidatingAdmissionPolicySpec) *admissionregistrationv1.ValidatingAdmissionPolicy {
	spec.FailurePolicy = new(admissionregistrationv1.Fail)
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta: policyType("ValidatingAdmissionPolicy"), ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	}
}

// policyBinding returns the binding that puts a policy in force.
func policyBinding(name string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta: policyType("ValidatingAdmissionPolicyBinding"), ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}
