package jobstatus

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func TestACompletedArraySaysWhichElementsFailed(t *testing.T) {
	t.Parallel()
	for want, states := range map[string]*batchv1alpha1.ArrayStatus{
		"":                               {Succeeded: "0-11"},
		"PodFailed: array task 5 failed": {Succeeded: "0-4,6-11", Failed: "5", ExitCodes: map[string]string{"-1": "5"}},
		"PodFailed: array tasks 5,7 failed (exit code 7)":                    {Succeeded: "0-4", Failed: "5,7", ExitCodes: map[string]string{"7": "5,7"}},
		"PodFailed: array tasks 5,7 failed (exit code 1: 5; exit code 9: 7)": {Failed: "5,7", ExitCodes: map[string]string{"1": "5", "9": "7"}},
	} {
		job := &batchv1alpha1.Job{Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Completed}, Array: states}}
		if got := ExplainJob(job, nil).CodeAndMessage(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestARunningJobOfWhichNoPodRunsSaysSo(t *testing.T) {
	t.Parallel()
	for want, status := range map[string]batchv1alpha1.JobStatus{
		"": {Running: 1, Pending: 3},
		"NoPodRuns: the job has started, but none of its 4 pods is running: 4 pending":                                        {Pending: 4},
		"NoPodRuns: the job has started, but none of its 4 pods is running: 1 pending, 3 being deleted":                       {Pending: 1, Terminating: 3},
		"NoPodRuns: the job has started, but none of its 4 pods is running: 1 failed, 2 unknown":                              {Failed: 1, Unknown: 2},
		"NoPodRuns: the job has started, but none of the job's 4 pods exists: they have not been created yet or were deleted": {},
		"FailedCreate: pods is forbidden": {State: batchv1alpha1.JobState{Reason: "FailedCreate", Message: "pods is forbidden"}},
	} {
		job := &batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Replicas: 4}}}, Status: status}
		job.Status.State.Phase = batchv1alpha1.Running
		group := &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupRunning}}
		if got := ExplainJob(job, group).CodeAndMessage(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestARunningJobOfWhichNoPodIsCountedSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Replicas: 2}}}}
	job.Status.State.Phase = batchv1alpha1.Running
	say := func(pods int) string {
		return (&Sheet{Job: job, Pods: make([]*corev1.Pod, pods)}).FindWaitReason().CodeAndMessage()
	}
	if got, want := say(0), "NoPodRuns: the job has started, but none of the job's 2 pods exists: they have not been created yet or were deleted"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := say(2), "NoPodRuns: the job has started, but its status does not count any pods yet; 2 exist"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	job.Spec.Tasks[0].Replicas = 0
	if got, want := say(0), "NoPodRuns: the job has no pods: all its tasks have 0 replicas"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
