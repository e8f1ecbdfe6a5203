package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
)

// endedBy sets the termination state of a pod's container as reported by a node.
func endedBy(code int32, why, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		ended(code, 0)(pod)
		t := pod.Status.ContainerStatuses[0].State.Terminated
		t.Reason, t.Message = why, message
	}
}

// saidOf sets the reason and message that a node reports for a pod as a whole.
func saidOf(why, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Reason, pod.Status.Message = why, message }
}

func limited(seconds int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.ActiveDeadlineSeconds = &seconds }
}

// memoryLimited gives the pod's container a memory limit.
func memoryLimited(limit string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}}}}
	}
}

// beside adds a successful container before the existing one.
func beside(pod *corev1.Pod) {
	pod.Spec.Containers = []corev1.Container{{Name: "helper"}, {Name: "main"}}
	pod.Status.ContainerStatuses[0].Name = "main"
	well := corev1.ContainerStatus{Name: "helper", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	pod.Status.ContainerStatuses = append([]corev1.ContainerStatus{well}, pod.Status.ContainerStatuses...)
}

func TestAFailedJobNamesTheCauseFirst(t *testing.T) {
	t.Parallel()
	const failed, well = corev1.PodFailed, corev1.PodSucceeded
	running := func() *story { return given(batchv1alpha1.Running) }
	tests := map[string]struct {
		in      *story
		code    reason.Code
		message string
	}{
		"an exit code":                   {running().pod("w", 0, failed, ended(3, 0)).pod("w", 1, failed, ended(4, 0)), reason.PodFailed, "w-0 exited with code 3"},
		"the lowest index, however seen": {running().pod("w", 1, failed, ended(4, 0)).pod("w", 0, failed, ended(3, 0)), reason.PodFailed, "w-0 exited with code 3"},
		"the first task": {running().task("a", 1).pod("a", 0, failed, ended(4, 0)).pod("w", 0, failed, ended(3, 0)).pod("w", 1, failed, ended(3, 0)),
			reason.PodFailed, "w-0 exited with code 3"},
		"the rule follows when some went well": {running().pod("w", 0, well).pod("w", 1, failed, ended(3, 0)), reason.PodFailed,
			"w-1 exited with code 3; in task w, fewer than minAvailable pods succeeded"},
		"a time limit": {running().pod("w", 0, failed, endedBy(137, "Error", ""), saidOf("DeadlineExceeded", "Pod was active"), limited(2)).pod("w", 1, failed),
			reason.DeadlineExceeded, "w-0 exceeded its time limit of 2s"},
		"a long time limit": {running().pod("w", 0, failed, saidOf("DeadlineExceeded", ""), limited(3600)).pod("w", 1, failed),
			reason.DeadlineExceeded, "w-0 exceeded its time limit of 1h"},
		"a program that is not there": {running().pod("w", 0, failed, endedBy(128, "StartError", "exec nope: not found\nmore")).pod("w", 1, failed),
			reason.StartError, "w-0 could not start: exec nope: not found"},
		"a program that a container runtime does not find": {running().pod("w", 0, failed, endedBy(128, "StartError",
			`failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/no/such/program": stat /no/such/program: no such file or directory`)).pod("w", 1, failed),
			reason.StartError, `w-0 could not start: exec: "/no/such/program": stat /no/such/program: no such file or directory`},
		"too much memory":        {running().pod("w", 0, failed, endedBy(137, "OOMKilled", ""), memoryLimited("1Gi")).pod("w", 1, failed), reason.OOMKilled, "w-0 used more memory than its limit of 1Gi"},
		"memory without a limit": {running().pod("w", 0, failed, endedBy(137, "OOMKilled", "")).pod("w", 1, failed), reason.OOMKilled, "w-0 used more memory than allowed"},
		"a node that was ended":  {running().pod("w", 0, failed, endedBy(137, "NodeStopped", "the node's process ended")).pod("w", 1, failed), reason.NodeStopped, "w-0: the node was stopped"},
		"pressure on the node":   {running().pod("w", 0, failed, saidOf("Evicted", "low on memory")).pod("w", 1, failed), reason.Evicted, "w-0 was evicted by its node: low on memory"},
		"a node that refuses for ever": {running().with(func(j *batchv1alpha1.Job) { j.Status.RefusedPods = 16 }).pod("w", 0, failed, saidOf("OutOfcpu", "no cpu")).pod("w", 1, failed),
			reason.PodRefused, "w-0 was rejected by its node (OutOfcpu): no cpu"},
		"a node that says something else": {running().pod("w", 0, failed, saidOf("Odd", "so it is")).pod("w", 1, failed), reason.PodFailed, "w-0 failed (Odd): so it is"},
		"nothing known":                   {running().pod("w", 0, failed).pod("w", 1, failed), reason.PodFailed, "w-0 failed"},
		"one container of several": {running().pod("w", 0, failed, ended(3, 0), beside).pod("w", 1, failed), reason.PodFailed,
			"w-0 container main exited with code 3"},
		"one restart too many": {given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) {
			j.Status.RetryCount, j.Status.Version, j.Status.State.Reason = 3, 3, string(busv1alpha1.RestartJobAction)
		}).pod("w", 0, failed, ended(3, 0), ofVersion(2)), reason.PodFailed, "w-0 exited with code 3; the job ran 3 times; its maxRetry is 3"},
		"no pod to name": {given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) { j.Status.RetryCount, j.Status.Version = 3, 3 }), "", "the job ran 3 times; its maxRetry is 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			state := status(test.in, &p).State
			if state.Phase != batchv1alpha1.Failed || state.Reason != string(test.code) || state.Message != test.message {
				t.Errorf("got %s %q %q, want %q %q", state.Phase, state.Reason, state.Message, test.code, test.message)
			}
			if test.code != "" && reason.Get(test.code).Hint == "" {
				t.Errorf("%s is not in the table of reasons", test.code)
			}
		})
	}
}

func disrupted(why string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: why})
	}
}

// TestFailureIsInTheStatusWhicheverPolicyHandlesIt covers a state.reason that is the action of a policy, and a pod that is
// gone.
func TestFailureIsInTheStatusWhicheverPolicyHandlesIt(t *testing.T) {
	t.Parallel()
	const failed = corev1.PodFailed
	ends := func(event busv1alpha1.Event) *story {
		return given(batchv1alpha1.Running).policy(event, busv1alpha1.TerminateJobAction)
	}
	vanished := func(changes ...func(*corev1.Pod)) *story {
		s := ends(busv1alpha1.PodEvictedEvent).pod("w", 0, corev1.PodRunning, append(changes, goingAway)...)
		lost, _ := LostFromPod(s.Pods[0], noon)
		s.Pods, s.Lost = nil, []Lost{lost}
		return s
	}
	had := func(phase batchv1alpha1.JobPhase, action busv1alpha1.Action) *story {
		return given(phase).with(func(j *batchv1alpha1.Job) {
			j.Status.State.Reason, j.Status.Failure = string(action), &batchv1alpha1.JobFailure{Reason: "OOMKilled"}
		})
	}
	tests := map[string]struct {
		in   *story
		want *batchv1alpha1.JobFailure
	}{
		"an exit code": {ends(busv1alpha1.PodFailedEvent).pod("w", 0, failed, ended(3, 0)), &batchv1alpha1.JobFailure{Reason: "PodFailed", Message: "w-0 exited with code 3", ExitCode: new(int32(3))}},
		"a time limit": {ends(busv1alpha1.PodFailedEvent).pod("w", 0, failed, endedBy(137, "Error", ""), saidOf("DeadlineExceeded", ""), limited(60)),
			&batchv1alpha1.JobFailure{Reason: "DeadlineExceeded", Message: "w-0 exceeded its time limit of 1m", ExitCode: new(int32(137))}},
		"too much memory": {ends(busv1alpha1.PodFailedEvent).pod("w", 0, failed, endedBy(137, "OOMKilled", ""), memoryLimited("1Gi")),
			&batchv1alpha1.JobFailure{Reason: "OOMKilled", Message: "w-0 used more memory than its limit of 1Gi", ExitCode: new(int32(137))}},
		"a node that is gone": {ends(busv1alpha1.PodFailedEvent).pod("w", 0, failed, disrupted("DeletionByPodGC")), &batchv1alpha1.JobFailure{Reason: "NodeStopped", Message: "w-0: the node was lost"}},
		"an eviction for others": {ends(busv1alpha1.PodEvictedEvent).pod("w", 0, corev1.PodRunning, goingAway, disrupted("PreemptionByScheduler")),
			&batchv1alpha1.JobFailure{Reason: "Preempted", Message: "w-0 was preempted"}},
		"an eviction by an administrator": {ends(busv1alpha1.PodEvictedEvent).pod("w", 0, corev1.PodRunning, goingAway, disrupted("EvictionByEvictionAPI")),
			&batchv1alpha1.JobFailure{Reason: "Evicted", Message: "w-0 was evicted"}},
		"a pod that was deleted":                 {ends(busv1alpha1.PodEvictedEvent).pod("w", 0, corev1.PodRunning, goingAway), &batchv1alpha1.JobFailure{Reason: "Evicted", Message: "w-0 was evicted"}},
		"a pod that is gone":                     {vanished(), &batchv1alpha1.JobFailure{Reason: "Evicted", Message: "w-0 was evicted"}},
		"a pod that is gone with its node":       {vanished(disrupted("DeletionByTaintManager")), &batchv1alpha1.JobFailure{Reason: "NodeStopped", Message: "w-0: the node was lost"}},
		"no policy":                              {given(batchv1alpha1.Running).pod("w", 0, failed, ended(3, 0)).pod("w", 1, failed), &batchv1alpha1.JobFailure{Reason: "PodFailed", Message: "w-0 exited with code 3", ExitCode: new(int32(3))}},
		"kept until the pods have ended":         {had(batchv1alpha1.Terminating, busv1alpha1.TerminateJobAction), &batchv1alpha1.JobFailure{Reason: "OOMKilled"}},
		"kept when it was one restart too many":  {had(batchv1alpha1.Restarting, busv1alpha1.RestartJobAction).with(func(j *batchv1alpha1.Job) { j.Status.RetryCount = 3 }), &batchv1alpha1.JobFailure{Reason: "OOMKilled"}},
		"not of a job that starts again":         {had(batchv1alpha1.Restarting, busv1alpha1.RestartJobAction), nil},
		"not of a job that completed":            {had(batchv1alpha1.Completing, busv1alpha1.CompleteJobAction), nil},
		"not of a job that a person ends":        {given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning).command(busv1alpha1.TerminateJobAction), nil},
		"not of a job that a task's end ends":    {ends(busv1alpha1.TaskCompletedEvent).pod("w", 0, corev1.PodSucceeded, ended(0, 0)).pod("w", 1, corev1.PodSucceeded, ended(0, 0)), nil},
		"of a policy that restarts, until it is": {given(batchv1alpha1.Running).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction).pod("w", 0, failed, ended(3, 0)), &batchv1alpha1.JobFailure{Reason: "PodFailed", Message: "w-0 exited with code 3", ExitCode: new(int32(3))}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			got := status(test.in, &p)
			if got.State.Phase == test.in.Job.Status.State.Phase {
				t.Fatalf("it stays %s", got.State.Phase)
			}
			if diff := cmp.Diff(test.want, got.Failure); diff != "" {
				t.Errorf("%s: -want +got\n%s", got.State.Phase, diff)
			}
			if f := got.Failure; f != nil && reason.Get(reason.Code(f.Reason)).Hint == "" {
				t.Errorf("%s is not in the table of reasons", f.Reason)
			}
		})
	}
}

// TestFailureIsTheSameForSpecCacheAndDeletedPod compares the pod with its spec, the pod as in the cache, and the deleted pod.
func TestFailureIsTheSameForSpecCacheAndDeletedPod(t *testing.T) {
	t.Parallel()
	two := func(spec *corev1.PodSpec) {
		spec.Containers = []corev1.Container{{Name: "helper"}, {Name: "main"}}
		spec.ActiveDeadlineSeconds = new(int64(60))
	}
	ends := map[string]func(*corev1.Pod){
		"a container of two that failed": func(pod *corev1.Pod) { ended(3, 0)(pod); beside(pod) },
		"too much memory":                func(pod *corev1.Pod) { endedBy(137, "OOMKilled", "")(pod); beside(pod) },
		"a time limit":                   saidOf("DeadlineExceeded", ""),
		"its node's words":               saidOf("Evicted", "low on memory"),
		"its node's loss":                disrupted("DeletionByPodGC"),
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failure := func(hide func(*story)) *batchv1alpha1.JobFailure {
				s := given(batchv1alpha1.Running).policy(busv1alpha1.PodFailedEvent, busv1alpha1.TerminateJobAction).with(func(j *batchv1alpha1.Job) { two(&j.Spec.Tasks[0].Template.Spec) }).
					pod("w", 0, corev1.PodFailed, end, func(pod *corev1.Pod) { two(&pod.Spec) })
				hide(s)
				p := Compute(s.Input)
				return status(s, &p).Failure
			}
			whole := failure(func(*story) {})
			slim := failure(func(s *story) { s.Pods[0].Spec = corev1.PodSpec{} })
			gone := failure(func(s *story) {
				s.Pods[0].Spec = corev1.PodSpec{}
				lost, _ := LostFromPod(s.Pods[0], noon)
				s.Pods, s.Lost = nil, []Lost{lost}
			})
			if whole == nil {
				t.Fatal("no failure is told")
			}
			if diff := cmp.Diff(whole, slim); diff != "" {
				t.Errorf("as the cache has it: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(whole, gone); diff != "" {
				t.Errorf("gone: -want +got\n%s", diff)
			}
		})
	}
}

func TestTheWordsOfANodeAreCutForAColumn(t *testing.T) {
	t.Parallel()
	if got := []rune(messageSuffix(strings.Repeat("ä", 500))); len(got) != mostOfMessage+len(": ") || got[len(got)-1] != '…' {
		t.Errorf("%d characters: %s", len(got), string(got))
	}
}
