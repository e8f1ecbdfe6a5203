package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// userNamespace is the namespace of the users' jobs.
const userNamespace = "team"

// drawJob draws a job with one to three tasks.
func drawJob(random *rand.Rand, name string, queues []string) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: name}}
	job.Spec.Queue = queues[random.IntN(len(queues))]
	job.Spec.MaxRetry = 1 + random.Int32N(3)
	job.Spec.Policies = drawPolicies(random)
	tasks := 1
	if random.IntN(3) == 0 {
		tasks = 2 + random.IntN(2)
	}
	total := int32(0)
	for i := range tasks {
		task := drawTask(random, i)
		total += task.Replicas
		job.Spec.Tasks = append(job.Spec.Tasks, task)
	}
	switch random.IntN(3) {
	case 0:
		job.Spec.MinAvailable = total
	case 1:
		job.Spec.MinAvailable = 1 + random.Int32N(total)
	}
	if random.IntN(5) == 0 {
		job.Spec.MinSuccess = ptr.To(1 + random.Int32N(total))
	}
	if random.IntN(4) == 0 {
		job.Spec.TTLSecondsAfterFinished = ptr.To(random.Int32N(60))
	}
	if random.IntN(3) == 0 {
		job.Spec.PriorityClassName = priorityClasses[random.IntN(len(priorityClasses))].Name
	}
	if random.IntN(5) == 0 {
		job.Spec.Plugins = map[string][]string{"svc": {}, "env": {}}
	}
	return job
}

func drawTask(random *rand.Rand, i int) batchv1alpha1.TaskSpec {
	request := []string{"500m", "1", "1", "2", "3"}[random.IntN(5)]
	task := batchv1alpha1.TaskSpec{Name: fmt.Sprintf("t%d", i), Replicas: 1 + random.Int32N(5), Policies: nil}
	task.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)},
		}}},
	}
	if random.IntN(4) == 0 {
		task.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		task.MaxRetry = []int32{-1, 1, 3}[random.IntN(3)]
	}
	if random.IntN(6) == 0 {
		task.Template.Spec.TerminationGracePeriodSeconds = ptr.To([]int64{1, 120, 900}[random.IntN(3)])
	}
	if random.IntN(5) == 0 {
		task.MinAvailable = ptr.To(random.Int32N(task.Replicas + 1))
	}
	if random.IntN(3) == 0 {
		task.Policies = drawPolicies(random)
	}
	if i > 0 && random.IntN(3) == 0 {
		task.DependsOn = &batchv1alpha1.DependsOn{Name: []string{"t0"}}
	}
	return task
}

// policyActions are the actions of policies. The most frequent one in practice occurs twice.
var policyActions = []busv1alpha1.Action{
	busv1alpha1.RestartJobAction, busv1alpha1.RestartJobAction, busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction,
	busv1alpha1.AbortJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction,
}

// drawPolicies draws up to two policies that the webhooks accept, for the most frequent events. drawDetailedPolicies draws
// the others.
func drawPolicies(random *rand.Rand) []batchv1alpha1.LifecyclePolicy {
	events := []busv1alpha1.Event{busv1alpha1.PodFailedEvent, busv1alpha1.PodEvictedEvent, busv1alpha1.TaskCompletedEvent, busv1alpha1.JobUnknownEvent}
	var policies []batchv1alpha1.LifecyclePolicy
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	for _, event := range events[:random.IntN(3)] {
		policy := batchv1alpha1.LifecyclePolicy{Event: event, Action: policyActions[random.IntN(len(policyActions))]}
		if event != busv1alpha1.TaskCompletedEvent && random.IntN(6) == 0 {
			policy.Timeout = &metav1.Duration{Duration: 20 * time.Second}
		}
		policies = append(policies, policy)
	}
	return policies
}

// describeJob returns a job's settings in one line.
func describeJob(job *batchv1alpha1.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "queue %s", job.Spec.Queue)
	if job.Spec.MinAvailable > 0 {
		fmt.Fprintf(&b, ", minAvailable %d", job.Spec.MinAvailable)
	}
	if job.Spec.MinSuccess != nil {
		fmt.Fprintf(&b, ", minSuccess %d", *job.Spec.MinSuccess)
	}
	if job.Spec.PriorityClassName != "" {
		fmt.Fprintf(&b, ", priority %s", job.Spec.PriorityClassName)
	}
	if job.Spec.TTLSecondsAfterFinished != nil {
		fmt.Fprintf(&b, ", deleted %d s after the end", *job.Spec.TTLSecondsAfterFinished)
	}
	fmt.Fprintf(&b, ", maxRetry %d%s", job.Spec.MaxRetry, describePolicies(job.Spec.Policies))
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		fmt.Fprintf(&b, "; task %s: %d pods of cpu %s", task.Name, task.Replicas, task.Template.Spec.Containers[0].Resources.Requests.Cpu())
		if task.MinAvailable != nil {
			fmt.Fprintf(&b, ", minAvailable %d", *task.MinAvailable)
		}
		if task.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			fmt.Fprintf(&b, ", containers restart, maxRetry %d", task.MaxRetry)
		}
		if grace := task.Template.Spec.TerminationGracePeriodSeconds; grace != nil {
			fmt.Fprintf(&b, ", grace %d s", *grace)
		}
		if containers := len(task.Template.Spec.Containers); containers > 1 {
			fmt.Fprintf(&b, ", %d containers", containers)
		}
		if task.DependsOn != nil {
			fmt.Fprintf(&b, ", after %s", strings.Join(task.DependsOn.Name, " and "))
		}
		b.WriteString(describePolicies(task.Policies))
	}
	return b.String()
}

func describePolicies(policies []batchv1alpha1.LifecyclePolicy) string {
	var b strings.Builder
	for i := range policies {
		fmt.Fprintf(&b, ", %s: %s", describeTrigger(&policies[i]), policies[i].Action)
		if policies[i].Timeout != nil {
			fmt.Fprintf(&b, " after %s", policies[i].Timeout.Duration)
		}
	}
	return b.String()
}

// describeTrigger returns the exit code or the events to which a policy responds.
func describeTrigger(p *batchv1alpha1.LifecyclePolicy) string {
	if p.ExitCode != nil {
		return fmt.Sprintf("exit code %d", *p.ExitCode)
	}
	var names []string
	for _, event := range p.AnsweredEvents() {
		names = append(names, string(event))
	}
	return strings.Join(names, " or ")
}
