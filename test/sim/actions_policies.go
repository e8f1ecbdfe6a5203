package sim

import (
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

func init() {
	registerAction("submit-job-with-policies", 14, func(s *drawing) *action {
		name := s.newJobName()
		job := drawJob(s.Rand, name, s.queueNames())
		job.Spec.Policies = drawDetailedPolicies(s.Rand)
		for i := range job.Spec.Tasks {
			drawFailures(s.Rand, &job.Spec.Tasks[i])
		}
		return s.action(func(w *World) { w.users.submit(job) }, "user submits %s: %s", name, describeJob(job))
	})
}

// drawFailures gives a task policies of its own, containers that restart, or a second container. Only one container of a
// pod fails.
func drawFailures(random *rand.Rand, task *batchv1alpha1.TaskSpec) {
	task.Policies = nil
	if random.IntN(2) == 0 {
		task.Policies = drawDetailedPolicies(random)
	}
	if random.IntN(3) == 0 {
		task.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		task.MaxRetry = []int32{-1, 1, 1, 2}[random.IntN(4)]
	}
	if random.IntN(3) == 0 {
		task.Template.Spec.Containers = append(task.Template.Spec.Containers, corev1.Container{Name: "helper", Image: "busybox"})
	}
}

// drawDetailedPolicies draws policies that the webhooks accept, for exit codes, single events, lists of events or all
// events. Their order is random, because the first one that matches applies.
func drawDetailedPolicies(random *rand.Rand) []batchv1alpha1.LifecyclePolicy {
	var policies []batchv1alpha1.LifecyclePolicy
	codes := []int32{1, 2, 3, 137, 143}
	for _, i := range random.Perm(len(codes))[:random.IntN(3)] {
		policies = append(policies, batchv1alpha1.LifecyclePolicy{ExitCode: ptr.To(codes[i])})
	}
	if random.IntN(3) == 0 {
		policies = append(policies, batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.AnyEvent})
	} else {
		policies = append(policies, drawEventPolicies(random)...)
	}
	random.Shuffle(len(policies), func(i, j int) { policies[i], policies[j] = policies[j], policies[i] })
	for i := range policies {
		p := &policies[i]
		p.Action = policyActions[random.IntN(len(policyActions))]
		isForPending := hasEvent(p, busv1alpha1.PodPendingEvent) && p.Event != busv1alpha1.AnyEvent
		if random.IntN(5) == 0 || (isForPending && random.IntN(5) > 0) {
			p.Timeout = &metav1.Duration{Duration: between(random, 10*time.Second, 2*time.Minute).Round(time.Second)}
		}
	}
	return policies
}

// drawEventPolicies draws up to two policies for one to three events each.
func drawEventPolicies(random *rand.Rand) []batchv1alpha1.LifecyclePolicy {
	events := []busv1alpha1.Event{
		busv1alpha1.PodFailedEvent, busv1alpha1.PodEvictedEvent, busv1alpha1.TaskCompletedEvent, busv1alpha1.JobUnknownEvent,
		busv1alpha1.TaskFailedEvent, busv1alpha1.PodPendingEvent,
	}
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	var policies []batchv1alpha1.LifecyclePolicy
	for range random.IntN(3) {
		count := 1 + random.IntN(3)
		p := batchv1alpha1.LifecyclePolicy{Events: events[:count]}
		if count == 1 {
			p = batchv1alpha1.LifecyclePolicy{Event: events[0]}
		}
		policies, events = append(policies, p), events[count:]
	}
	return policies
}
