package sim

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/test/apiserver"
)

// validatedKinds are the kinds whose objects are not stored unless a webhook has checked them, by the suffix of the
// configuration's name.
var validatedKinds = map[string]string{
	"jobs-validate": "Job", "queues-validate": "Queue", "podgroups-validate": "PodGroup", "hypernodes-validate": "HyperNode",
	"cronjobs-validate": "CronJob", "jobflows-validate": "JobFlow", "jobtemplates-validate": "JobTemplate", "accounts-validate": "Account",
}

// mutatedKinds are the kinds whose defaults a webhook sets, by the suffix of the configuration's name.
var mutatedKinds = map[string]string{"jobs-mutate": "Job", "queues-mutate": "Queue", "podgroups-mutate": "PodGroup"}

const (
	// longestReview is the time that the webhooks may take for one request: the timeouts of two webhooks, and the ways.
	longestReview = 25 * time.Second
	// repairTime is the time after the last fault within which the configurations must be right again. A lost request
	// of admission takes 45 seconds to fail, and the next attempt begins 10 seconds later. Admission may start again 40
	// seconds after the last fault.
	repairTime = 110 * time.Second
)

// checkConfigurationChange records since when each kind is validated.
func (c *checks) checkConfigurationChange(change apiserver.Change) {
	configuration, ok := cmp.Or(change.Object, change.Old).(*admissionregistrationv1.ValidatingWebhookConfiguration)
	if !ok {
		return
	}
	kind := validatedKinds[strings.TrimPrefix(configuration.Name, admission.ConfigurationPrefix)]
	switch {
	case change.Object == nil || !failsClosed(configuration):
		delete(c.validated, kind)
	case c.validated[kind].IsZero():
		c.validated[kind] = c.world.now
	}
}

// failsClosed reports whether a configuration contains a webhook without which new objects are rejected.
func failsClosed(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) bool {
	return slices.ContainsFunc(configuration.Webhooks, func(h admissionregistrationv1.ValidatingWebhook) bool {
		return *h.FailurePolicy == admissionregistrationv1.Fail && slices.ContainsFunc(h.Rules, func(r admissionregistrationv1.RuleWithOperations) bool {
			return slices.Contains(r.Operations, admissionregistrationv1.Create)
		})
	})
}

// isValidated reports whether all requests that create or change objects of a kind, and that may still be under way, are
// checked by a webhook.
func (c *checks) isValidated(kind string) bool {
	since, ok := c.validated[kind]
	return ok && c.world.now.Sub(since) > longestReview
}

// checkValid checks that no object is stored that the webhooks must reject.
func (c *checks) checkValid(change apiserver.Change) {
	object := change.Object
	if object == nil || !c.isValidated(change.Kind.Kind) {
		return
	}
	isOfJob := change.Kind == groupKind && metav1.GetControllerOf(object) != nil // webhooks have checked the job instead
	if change.Old == nil && !isOfJob && isInvalid(object) {
		c.world.fail("%s %s is invalid, but was stored while the webhook configuration existed", change.Kind.Kind, object.GetName())
	}
	job, isJob := object.(*batchv1alpha1.Job)
	old, hasOld := change.Old.(*batchv1alpha1.Job)
	if isJob && hasOld && !equality.Semantic.DeepEqual(images(job), images(old)) {
		c.world.fail("the images of job %s changed, which is not permitted, while the webhook configuration existed", job.Name)
	}
}

// recordNumber checks that the number of a new job was not given to another job before.
func (c *checks) recordNumber(job *batchv1alpha1.Job) {
	number, ok := batchv1alpha1.JobID(job)
	if !ok {
		return
	}
	if other, isTaken := c.numbers[number]; isTaken && other != job.UID {
		c.world.fail("job %s has the number %d, which another job had before", job.Name, number)
	}
	c.numbers[number] = job.UID
}

// checkNumber checks that a job keeps its number.
func (c *checks) checkNumber(old, job *batchv1alpha1.Job) {
	before, hadNumber := batchv1alpha1.JobID(old)
	after, hasNumber := batchv1alpha1.JobID(job)
	if hadNumber && (!hasNumber || before != after) {
		c.world.fail("job %s had the number %d and lost it", job.Name, before)
	}
}

func isInvalid(o client.Object) bool { return o.GetLabels()[invalidLabel] != "" }

// images returns the images of a job's tasks.
func images(job *batchv1alpha1.Job) (all []string) {
	for i := range job.Spec.Tasks {
		for _, c := range job.Spec.Tasks[i].Template.Spec.Containers {
			all = append(all, c.Image)
		}
	}
	return all
}

// checkConfigurations checks, after faults have stopped for a while, that the API server calls the webhooks and trusts
// all processes.
func (w *World) checkConfigurations() {
	if !w.calm || w.now.Sub(epoch.Add(storyLength)) < repairTime {
		return
	}
	stored := map[string]client.Object{}
	for _, o := range w.configurations() {
		stored[o.GetName()] = o
	}
	for _, suffix := range slices.Sorted(maps.Keys(validatedKinds)) {
		c, ok := stored[admission.ConfigurationPrefix+suffix].(*admissionregistrationv1.ValidatingWebhookConfiguration)
		if !ok || !failsClosed(c) {
			w.fail("the configuration that validates %ss was not restored within %s", validatedKinds[suffix], repairTime)
			return
		}
		for i := range c.Webhooks {
			w.checkAuthorities(c.Name, c.Webhooks[i].ClientConfig.CABundle)
		}
	}
	for _, suffix := range slices.Sorted(maps.Keys(mutatedKinds)) {
		c, ok := stored[admission.ConfigurationPrefix+suffix].(*admissionregistrationv1.MutatingWebhookConfiguration)
		if !ok || len(c.Webhooks) == 0 {
			w.fail("the configuration that sets the defaults of %ss was not restored within %s", mutatedKinds[suffix], repairTime)
			return
		}
		w.checkAuthorities(c.Name, c.Webhooks[0].ClientConfig.CABundle)
	}
}

// checkAuthorities checks that the authorities of a configuration verify the certificates of all admission processes.
func (w *World) checkAuthorities(configuration string, authorities []byte) {
	for _, r := range w.replicas {
		if a := w.webhookService.programs[r.process]; a != nil && a.isReady && r.process.isAlive() {
			if err := w.webhookService.verify(a, authorities); err != nil {
				w.fail("the API server does not trust %s because of configuration %s: %v", r.process.name, configuration, err)
			}
		}
	}
}

// checkPlainPods checks, at rest, that every pod without a job has been scheduled if a node is large enough.
func (w *World) checkPlainPods() {
	queue := w.state.queues[keys.DefaultQueue]
	if queue == nil || queue.Status.State != schedulingv1beta1.QueueStateOpen {
		return
	}
	for _, pod := range w.pods() {
		if !isPlain(pod) || pod.Spec.NodeName != "" {
			continue
		}
		for _, node := range w.state.nodes {
			if node.Status.Allocatable.Cpu().MilliValue() >= milliCPU(pod) {
				w.fail("pod %s has not been scheduled", pod.Name)
				return
			}
		}
	}
}

// isPlain reports whether a pod belongs to no job.
func isPlain(pod *corev1.Pod) bool {
	return metav1.GetControllerOf(pod) == nil && pod.Spec.SchedulerName == keys.DefaultSchedulerName && pod.Labels[inGroupLabel] == ""
}
