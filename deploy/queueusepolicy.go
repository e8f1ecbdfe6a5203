package deploy

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/admission/matchcondition"
)

// QueueUsePolicyName is the name of the policy that requires a permission to use a queue. The policy is always installed. A
// binding of the same name puts it in force.
const QueueUsePolicyName = "volcano-queue-use-policy"

// QueueUseBinding returns the binding that puts the policy in force. It is not part of the default installation.
func QueueUseBinding() runtime.Object { return policyBinding(QueueUsePolicyName) }

// queueUsePolicy returns the policy that requires the verb "use" on each queue that a new or changed object names: jobs and
// the objects that jobs are created from, PodGroups, pods, and the workloads whose pods or annotations name a queue. Objects
// that controllers create for other objects are exempt, because their sources were checked when users created them. That
// includes the jobs of a JobFlow, so every user who may create JobFlows in a namespace may use its JobTemplates.
func queueUsePolicy() []runtime.Object {
	changes := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	spec := admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: matchRules(changes,
			admissionregistrationv1.Rule{APIGroups: []string{batchGroup}, APIVersions: []string{"v1alpha1"}, Resources: []string{"jobs", "cronjobs"}},
			admissionregistrationv1.Rule{APIGroups: []string{flowGroup}, APIVersions: []string{"v1alpha1"}, Resources: []string{"jobflows", "jobtemplates"}},
			admissionregistrationv1.Rule{APIGroups: []string{gangGroup}, APIVersions: []string{"v1beta1"}, Resources: []string{"podgroups"}},
			admissionregistrationv1.Rule{APIGroups: []string{core}, APIVersions: []string{"v1"}, Resources: []string{"pods", "replicationcontrollers"}},
			admissionregistrationv1.Rule{APIGroups: []string{appsGroup}, APIVersions: []string{"v1"}, Resources: []string{"deployments", "replicasets", "statefulsets", "daemonsets"}},
			admissionregistrationv1.Rule{APIGroups: []string{kubeJobs}, APIVersions: []string{"v1"}, Resources: []string{"jobs", "cronjobs"}},
		),
		MatchConditions: []admissionregistrationv1.MatchCondition{
			{Name: "not-made-by-our-controllers", Expression: "!(" + matchcondition.MadeByOurControllers + ")"},
			{Name: "not-made-by-controllers-of-kubernetes", Expression: "!(" + madeByControllersOfKubernetes + ")"},
		},
		Variables: []admissionregistrationv1.Variable{
			{Name: "queuesBefore", Expression: "request.operation == 'UPDATE' ? " + queuesOf("oldObject") + " : []"},
			{Name: queuesLeft(0), Expression: queuesOf("object") + ".filter(q, q != '' && !(q in variables.queuesBefore))"},
		},
	}
	// The API server limits the cost of an expression to about two checks of permissions, so each expression checks one queue.
	for i := range mostQueues {
		left := "variables." + queuesLeft(i)
		spec.Variables = append(spec.Variables, admissionregistrationv1.Variable{
			Name: queuesLeft(i + 1), Expression: fmt.Sprintf("%[1]s.filter(q, q != %[1]s[0])", left),
		})
		spec.Validations = append(spec.Validations, admissionregistrationv1.Validation{
			Expression: left + ".size() == 0 || authorizer.group('" + gangGroup + "').resource('queues').name(" + left + "[0]).check('use').allowed()",
			MessageExpression: `'user "' + request.userInfo.username + '" is not allowed to use queue ' + string(` + left + `[0]) + ': ` +
				`choose another queue, or ask an administrator for the verb use on queues.` + gangGroup + `'`,
			Reason: new(metav1.StatusReasonForbidden),
		})
	}
	spec.Validations = append(spec.Validations, admissionregistrationv1.Validation{
		Expression: "variables." + queuesLeft(mostQueues) + ".size() == 0",
		Message:    fmt.Sprintf("the object names more than %d queues: create several objects", mostQueues),
		Reason:     new(metav1.StatusReasonForbidden),
	})
	return []runtime.Object{policyObject(QueueUsePolicyName, spec)}
}

// mostQueues is the maximum number of different queues that one object may name while the policy is in force.
const mostQueues = 8

// queuesLeft returns the name of the variable with the queues that are left after n queues were checked.
func queuesLeft(n int) string { return fmt.Sprintf("queuesLeft%d", n) }

// madeByControllersOfKubernetes matches objects that the controllers of Kubernetes create, such as the pods of a ReplicaSet.
const madeByControllersOfKubernetes = matchcondition.HasController + " && (" + isControllerOfKubernetes + ")"

// isControllerOfKubernetes matches requests of kube-controller-manager, with or without a service account for each controller.
const isControllerOfKubernetes = `request.userInfo.username == 'system:kube-controller-manager' || 'system:serviceaccounts:kube-system' in request.userInfo.groups`

// queuesOf returns a CEL expression for the list of queues that an object names. A job without a queue uses the default
// queue. Pods and workloads name a queue in an annotation of their own or of the pod template. Empty names must be ignored.
func queuesOf(object string) string {
	inSpec := func(spec string) string {
		queue := spec + ".?queue.orValue('')"
		return fmt.Sprintf("[%s == '' ? '%s' : %s]", queue, keys.DefaultQueue, queue)
	}
	inAnnotation := func(metadata string) string {
		return fmt.Sprintf("%s.?annotations[?'%s'].orValue('')", metadata, keys.PodQueueName)
	}
	ofWorkload := "[" + inAnnotation(object+".?metadata") + ", " + inAnnotation(object+".?spec.?template.?metadata") + ", " +
		inAnnotation(object+".?spec.?jobTemplate.?metadata") + ", " + inAnnotation(object+".?spec.?jobTemplate.?spec.?template.?metadata") + "]"
	ofFlow := object + ".?spec.?flows.orValue([]).map(f, f.?patch.?jobSpec.?queue.orValue(''))"
	return fmt.Sprintf("(request.resource.group in ['%s', '%s', '%s'] ? %s : ", core, appsGroup, kubeJobs, ofWorkload) +
		"request.resource.resource == 'jobflows' ? " + ofFlow +
		" : request.resource.resource == 'cronjobs' ? " + inSpec(object+".?spec.?jobTemplate.?spec") +
		" : " + inSpec(object+".?spec") + ")"
}
