package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
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
	crashing := func(times int32, ago time.Duration, changes ...func(*batch.Job)) *story {
		s := replacePod(running(), 1, corev1.PodRunning, crashed(times, ago)).with(func(j *batch.Job) {
			j.Spec.Tasks[0].Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
			j.Status.State.LastTransitionTime = metav1.NewTime(noon.Add(-10 * time.Minute))
		})
		for _, change := range changes {
			s.with(change)
		}
		return s.counted()
	}
	retries := func(n int32) func(*batch.Job) { return func(j *batch.Job) { j.Spec.Tasks[0].MaxRetry = n } }
	// Task x waits for task w, whose pods have ended.
	waiting := func(first, second corev1.PodPhase) *story {
		return given(batch.Pending).task("x", 1).with(func(j *batch.Job) { j.Spec.Tasks[1].DependsOn = &batch.DependsOn{Name: []string{"w"}} }).
			group(scheduling.PodGroupRunning).pod("w", 0, first, ended(3, 0)).pod("w", 1, second)
	}
	const failed, well = corev1.PodFailed, corev1.PodSucceeded
	tests := map[string]struct {
		in    *story
		phase batch.JobPhase
		why   string
	}{
		"a pod that crashes once more than its task allows": {crashing(4, time.Second), batch.Failed,
			"w-1 exited with code 1; its containers were restarted 4 times, maxRetry of task w is 3"},
		"not before":                                  {crashing(3, time.Second), batch.Running, ""},
		"a task that allows more":                     {crashing(4, time.Second, retries(4)), batch.Running, ""},
		"a task without a limit":                      {crashing(99, time.Second, retries(-1)), batch.Running, ""},
		"crashes while the others were not there yet": {crashing(9, 11*time.Minute), batch.Running, ""},
		"a policy knows better": {crashing(4, time.Second).policy(bus.TaskFailedEvent, bus.RestartTaskAction), batch.Restarting,
			"containers of task w restarted 4 times, the limit is 3"},
		"a policy that waits knows better":              {delayed(crashing(4, time.Second), bus.TaskFailedEvent, bus.RestartTaskAction, time.Hour), batch.Running, ""},
		"containers that are meant to be started again": {crashing(9, time.Second, func(j *batch.Job) { j.Spec.Tasks[0].Template.Spec.RestartPolicy = corev1.RestartPolicyAlways }), batch.Running, ""},
		"a task that waits for one that has failed":     {waiting(failed, well), batch.Failed, "w-0 exited with code 3; task x can never start: it waits for w"},
		"it may start when that has succeeded":          {waiting(well, well), batch.Pending, ""},
		"as long as a pod runs, all may be well":        {waiting(failed, corev1.PodRunning), batch.Pending, "task x waits until w is ready"},
		"a delayed answer may still help":               {delayed(waiting(failed, well), bus.PodFailedEvent, bus.RestartTaskAction, time.Hour), batch.Pending, "task x waits until w is ready"},
		"a policy that answers now":                     {waiting(failed, well).policy(bus.PodFailedEvent, bus.CompleteJobAction), batch.Completing, "pod j-w-0 failed with exit code 3"},
		"the group was not let in, so pods are to come": {func() *story {
			s := waiting(failed, well)
			s.PodGroup.Status.Phase = scheduling.PodGroupPending
			return s
		}(), batch.Pending, ""},
		"a running job of which a task can never start": {waiting(failed, well).with(func(j *batch.Job) { j.Status.State.Phase, j.Spec.MinAvailable = batch.Running, 2 }),
			batch.Failed, "w-0 exited with code 3; task x can never start: it waits for w"},
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
