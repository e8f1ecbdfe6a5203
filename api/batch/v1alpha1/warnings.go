package v1alpha1

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// JobWarnings returns warnings about settings of a Job that are valid but probably not intended. The Job's defaults
// must be set.
func JobWarnings(job *Job) []string {
	total := totalReplicas(job)
	if total == 0 {
		return []string{"spec.tasks[*].replicas: every task has 0 replicas; nothing runs and the job does not end until a task is scaled up"}
	}
	var warnings []string
	if job.Spec.MinSuccess != nil && int64(*job.Spec.MinSuccess) > total {
		warnings = append(warnings, fmt.Sprintf("spec.minSuccess: %d pods cannot succeed because the job has only %d pods", *job.Spec.MinSuccess, total))
	}
	warnings = append(warnings, endlessWarnings(job)...)
	warnings = append(warnings, pluginWarnings(job)...)
	warnings = append(warnings, serviceWarnings(job)...)
	warnings = append(warnings, timeoutWarnings(job.Spec.Policies, "spec.policies")...)
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		at := fmt.Sprintf("spec.tasks[%d]", i)
		warnings = append(warnings, timeoutWarnings(task.Policies, at+".policies")...)
		if other := task.Template.Spec.SchedulerName; other != "" && other != job.Spec.SchedulerName {
			warnings = append(warnings, fmt.Sprintf("%s.template.spec.schedulerName: scheduler %q is specified for this task, but scheduler %q for the rest of the job, so the tasks cannot start together",
				at, other, job.Spec.SchedulerName))
		}
	}
	return warnings
}

// endlessWarnings returns a warning about a job that cannot end because all its containers are always restarted.
func endlessWarnings(job *Job) []string {
	policies := slices.Clone(job.Spec.Policies)
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		if restart := task.Template.Spec.RestartPolicy; restart != "" && restart != corev1.RestartPolicyAlways {
			return nil
		}
		if task.Template.Spec.ActiveDeadlineSeconds != nil {
			return nil
		}
		policies = append(policies, task.Policies...)
	}
	if len(policies) > 0 {
		return nil
	}
	return []string{"spec.tasks[*].template.spec.restartPolicy: every task uses Always, so containers are always restarted and the job never completes; use OnFailure or Never"}
}

// serviceWarnings returns a warning about a job name that older servers reject as the name of a Service, because they
// apply the stricter rules of RFC 1035.
func serviceWarnings(job *Job) []string {
	if job.Name == "" || job.Name[0] < '0' || job.Name[0] > '9' {
		return nil
	}
	for _, plugin := range []string{PluginService, PluginRay} {
		if _, ok := job.Spec.Plugins[plugin]; ok {
			return []string{fmt.Sprintf("metadata.name: %s begins with a digit: Kubernetes before 1.36 rejects Services with such a name; plugin %s creates such a Service, so no pod would start; use a name that begins with a letter",
				job.Name, plugin)}
		}
	}
	return nil
}

// timeoutWarnings returns warnings about policies for pending pods that have no timeout.
func timeoutWarnings(policies []LifecyclePolicy, at string) []string {
	var warnings []string
	for i := range policies {
		if policies[i].Timeout == nil && slices.Contains(policies[i].AnsweredEvents(), busv1alpha1.PodPendingEvent) {
			warnings = append(warnings, fmt.Sprintf("%s[%d].timeout: the event PodPending has no effect without a timeout", at, i))
		}
	}
	return warnings
}
