package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// crashed returns a pod whose container failed and was restarted by its node.
func crashed(times int32, ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: times,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 1, FinishedAt: metav1.NewTime(noon.Add(-ago))}}}}
	}
}

func TestAJobThatCannotComeToAnythingFails(t *testing.T) {
	t.Parallel()
	// A pod of task w, which has run for ten minutes, crashes.
	crashing := func(times int32, ago time.Duration, changes ...func(*batchv1alpha1.Job)) *story {
		s := replacePod(running(), 1, corev1.PodRunning, crashed(times, ago)).with(func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
			j.Status.State.LastTransitionTime = metav1.NewTime(noon.Add(-10 * time.Minute))
		})
		for _, change := range changes {
			s.with(change)
		}
		return s.counted()
	}
	retries := func(n int32) func(*batchv1alpha1.Job) {
		return func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].MaxRetry = n }
	}
	// Task x waits for task w, whose pods have ended.
	waiting := func(first, second corev1.PodPhase) *story {
		return given(batchv1alpha1.Pending).task("x", 1).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[1].DependsOn = &batchv1alpha1.DependsOn{Name: []string{"w"}} }).
			group(schedulingv1beta1.PodGroupRunning).pod("w", 0, first, ended(3, 0)).pod("w", 1, second)
	}
	// Tasks w and x wait for each other.
	circle := func(phase schedulingv1beta1.PodGroupPhase) *story {
		return given(batchv1alpha1.Pending).task("x", 1).with(func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].MinAvailable, j.Spec.Tasks[1].MinAvailable = new(int32(1)), new(int32(1))
			j.Spec.Tasks[0].DependsOn, j.Spec.Tasks[1].DependsOn = &batchv1alpha1.DependsOn{Name: []string{"x"}}, &batchv1alpha1.DependsOn{Name: []string{"w"}}
		}).group(phase)
	}
	const failed, well = corev1.PodFailed, corev1.PodSucceeded
	tests := map[string]struct {
		in    *story
		phase batchv1alpha1.JobPhase
		why   string
	}{
		"a pod that crashes once more than its task allows": {crashing(4, time.Second), batchv1alpha1.Failed,
			"w-1 exited with code 1; its containers were restarted 4 times, but maxRetry of task w is 3"},
		"not before":                                  {crashing(3, time.Second), batchv1alpha1.Running, ""},
		"a task that allows more":                     {crashing(4, time.Second, retries(4)), batchv1alpha1.Running, ""},
		"a task without a limit":                      {crashing(99, time.Second, retries(-1)), batchv1alpha1.Running, ""},
		"crashes while the others were not there yet": {crashing(9, 11*time.Minute), batchv1alpha1.Running, ""},
		"a policy knows better": {crashing(4, time.Second).policy(busv1alpha1.TaskFailedEvent, busv1alpha1.RestartTaskAction), batchv1alpha1.Restarting,
			"containers of task w restarted 4 times; the limit is 3"},
		"a policy that waits knows better":              {delayed(crashing(4, time.Second), busv1alpha1.TaskFailedEvent, busv1alpha1.RestartTaskAction, time.Hour), batchv1alpha1.Running, ""},
		"containers that are meant to be started again": {crashing(9, time.Second, func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Template.Spec.RestartPolicy = corev1.RestartPolicyAlways }), batchv1alpha1.Running, ""},
		"a task that waits for one that has failed":     {waiting(failed, well), batchv1alpha1.Failed, "w-0 exited with code 3; task x can never start: it waits for w"},
		"tasks that wait for each other":                {circle(schedulingv1beta1.PodGroupInqueue), batchv1alpha1.Failed, "task w can never start: it waits for x"},
		"tasks that wait for each other, not admitted":  {circle(schedulingv1beta1.PodGroupPending), batchv1alpha1.Pending, ""},
		"it may start when that has succeeded":          {waiting(well, well), batchv1alpha1.Pending, ""},
		"as long as a pod runs, all may be well":        {waiting(failed, corev1.PodRunning), batchv1alpha1.Pending, "task x waits until w is ready"},
		"a delayed answer may still help":               {delayed(waiting(failed, well), busv1alpha1.PodFailedEvent, busv1alpha1.RestartTaskAction, time.Hour), batchv1alpha1.Pending, "task x waits until w is ready"},
		"a policy that answers now":                     {waiting(failed, well).policy(busv1alpha1.PodFailedEvent, busv1alpha1.CompleteJobAction), batchv1alpha1.Completing, "pod j-w-0 failed with exit code 3"},
		"the group was not let in, so pods are to come": {func() *story {
			s := waiting(failed, well)
			s.PodGroup.Status.Phase = schedulingv1beta1.PodGroupPending
			return s
		}(), batchv1alpha1.Pending, ""},
		"a running job of which a task can never start": {waiting(failed, well).with(func(j *batchv1alpha1.Job) { j.Status.State.Phase, j.Spec.MinAvailable = batchv1alpha1.Running, 2 }),
			batchv1alpha1.Failed, "w-0 exited with code 3; task x can never start: it waits for w"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			if s := status(test.in, &p).State; s.Phase != test.phase || s.Message != test.why {
				t.Errorf("%s %q, want %s %q", s.Phase, s.Message, test.phase, test.why)
			}
		})
	}
}
