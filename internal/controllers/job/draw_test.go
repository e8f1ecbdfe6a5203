package job

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// drawPolicies draws up to two policies, some of them with a delay if timeouts is set.
func drawPolicies(t *rapid.T, name string, timeouts bool) []batchv1alpha1.LifecyclePolicy {
	events := []busv1alpha1.Event{busv1alpha1.PodFailedEvent, busv1alpha1.PodEvictedEvent, busv1alpha1.TaskCompletedEvent, busv1alpha1.JobUnknownEvent, busv1alpha1.AnyEvent, busv1alpha1.TaskFailedEvent}
	if timeouts {
		events = append(events, busv1alpha1.PodPendingEvent)
	}
	actions := []busv1alpha1.Action{busv1alpha1.RestartJobAction, busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction, busv1alpha1.RestartPartitionAction,
		busv1alpha1.AbortJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction}
	var policies []batchv1alpha1.LifecyclePolicy
	for range rapid.IntRange(0, 2).Draw(t, name) {
		p := batchv1alpha1.LifecyclePolicy{Action: rapid.SampledFrom(actions).Draw(t, "action")}
		if rapid.IntRange(0, 5).Draw(t, "by exit code") == 0 {
			code := rapid.Int32Range(1, 2).Draw(t, "exit code")
			p.ExitCode = &code
		} else {
			p.Event = rapid.SampledFrom(events).Draw(t, "event")
		}
		if timeouts && rapid.IntRange(0, 4).Draw(t, "waits") == 0 {
			p.Timeout = &metav1.Duration{Duration: 20 * time.Second}
		}
		policies = append(policies, p)
	}
	return policies
}

// drawJob draws a job of up to three tasks with all settings that may affect its life.
func drawJob(t *rapid.T, timeouts bool) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job"}, Spec: batchv1alpha1.JobSpec{
		Queue: "default", MaxRetry: rapid.Int32Range(1, 4).Draw(t, "maxRetry"), Policies: drawPolicies(t, "job policies", timeouts),
	}}
	if rapid.Bool().Draw(t, "svc") {
		job.Spec.Plugins = map[string][]string{"svc": {}}
	}
	if rapid.IntRange(0, 3).Draw(t, "ssh") == 0 {
		if job.Spec.Plugins == nil {
			job.Spec.Plugins = map[string][]string{}
		}
		// generating a key takes a tenth of a second
		job.Spec.Plugins["ssh"] = []string{"--ssh-private-key=given", "--ssh-public-key=too"}
	}
	if rapid.IntRange(0, 5).Draw(t, "begins later") == 0 {
		job.Annotations = map[string]string{keys.Begin: epoch.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "begins after")) * time.Second).Format(time.RFC3339)}
	}
	if rapid.IntRange(0, 3).Draw(t, "has volumes") == 0 {
		job.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/made", VolumeClaim: claimSpec.DeepCopy()}, {MountPath: "/there", VolumeClaimName: "there"}}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "tasks") {
		job.Spec.Tasks = append(job.Spec.Tasks, drawTask(t, i, timeouts))
	}
	total := int32(0)
	for i := range job.Spec.Tasks {
		total += job.Spec.Tasks[i].Replicas
	}
	if rapid.IntRange(0, 2).Draw(t, "names minAvailable") == 0 {
		job.Spec.MinAvailable = rapid.Int32Range(1, total).Draw(t, "minAvailable")
	}
	if rapid.IntRange(0, 3).Draw(t, "names minSuccess") == 0 {
		least := rapid.Int32Range(1, total).Draw(t, "minSuccess")
		job.Spec.MinSuccess = &least
	}
	return job
}

// drawBounds adds settings that may keep a job from starting, and a time to live.
func drawBounds(t *rapid.T, job *batchv1alpha1.Job) *batchv1alpha1.Job {
	if rapid.IntRange(0, 3).Draw(t, "held") == 0 {
		if job.Annotations == nil {
			job.Annotations = map[string]string{}
		}
		job.Annotations[keys.Hold] = rapid.SampledFrom([]string{keys.HoldUser, keys.HoldAdmin}).Draw(t, "by")
	}
	if rapid.IntRange(0, 2).Draw(t, "is deleted in time") == 0 {
		ttl := rapid.SampledFrom([]int32{0, 3, 60}).Draw(t, "ttlSecondsAfterFinished")
		job.Spec.TTLSecondsAfterFinished = &ttl
	}
	return job
}

func drawTask(t *rapid.T, i int, timeouts bool) batchv1alpha1.TaskSpec {
	task := batchv1alpha1.TaskSpec{Name: fmt.Sprintf("task%d", i), Replicas: rapid.Int32Range(1, 3).Draw(t, "replicas"),
		Policies: drawPolicies(t, "task policies", timeouts),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0:
		task.Replicas = 4
		task.PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 2, MinPartitions: rapid.Int32Range(0, 2).Draw(t, "minPartitions")}
	case 1:
		least := rapid.Int32Range(0, task.Replicas).Draw(t, "task minAvailable")
		task.MinAvailable = &least
	case 2:
		task.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		task.MaxRetry = rapid.SampledFrom([]int32{-1, 1, 3}).Draw(t, "task maxRetry")
	}
	if i > 0 && rapid.Bool().Draw(t, "waits for others") {
		task.DependsOn = &batchv1alpha1.DependsOn{Name: []string{"task0"}}
		if i > 1 && rapid.Bool().Draw(t, "for two") {
			task.DependsOn.Name = append(task.DependsOn.Name, "task1")
			task.DependsOn.Iteration = rapid.SampledFrom([]batchv1alpha1.Iteration{batchv1alpha1.IterationAny, batchv1alpha1.IterationAll, ""}).Draw(t, "iteration")
		}
	}
	return task
}

// drawRecords adds settings that make a status store results of pods that are gone.
func drawRecords(t *rapid.T, job *batchv1alpha1.Job) *batchv1alpha1.Job {
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	if rapid.IntRange(0, 2).Draw(t, "keeps finished work") == 0 {
		job.Annotations[keys.KeepFinished] = "true"
	}
	if task := &job.Spec.Tasks[0]; len(job.Spec.Tasks) == 1 && task.PartitionPolicy == nil && rapid.Bool().Draw(t, "is an array") {
		job.Annotations[keys.Array] = rapid.SampledFrom([]string{"0-1", "1,3,5", "7"}).Draw(t, "elements")
		elements, _, _ := batchv1alpha1.ElementsOf(job) // without a limit, because with one the next element depends on timing
		task.Replicas = int32(elements.Count())
		task.MinAvailable, job.Spec.MinAvailable, job.Spec.MinSuccess = nil, 0, nil
	}
	return job
}
