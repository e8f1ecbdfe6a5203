package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func TestWhichPodsWereRefused(t *testing.T) {
	t.Parallel()
	pod := func(phase corev1.PodPhase, why, message string, changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase, Reason: why, Message: message}}
		for _, change := range changes {
			change(pod)
		}
		return pod
	}
	waiting := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}}
	}
	inInit := func(pod *corev1.Pod) {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	}
	const failed = corev1.PodFailed
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"too few cpus":                         {pod(failed, "OutOfcpu", ""), true},
		"too few devices":                      {pod(failed, "OutOfnvidia.com/gpu", ""), true},
		"labels that have changed":             {pod(failed, "NodeAffinity", ""), true},
		"a node about to go down":              {pod(failed, "NodeShutdown", ""), true},
		"a device plugin that errs":            {pod(failed, "UnexpectedAdmissionError", ""), true},
		"before any container began":           {pod(failed, "OutOfpods", "", waiting), true},
		"a node under pressure":                {pod(failed, "Evicted", "Pod was rejected: The node had condition: [MemoryPressure]."), true},
		"not one that the node stopped":        {pod(failed, "Evicted", "The node was low on resource: memory."), false},
		"not one whose container has run":      {pod(failed, "NodeShutdown", "", ended(1, 0)), false},
		"not one whose init container has run": {pod(failed, "NodeShutdown", "", inInit), false},
		"not one that failed by itself":        {pod(failed, "", ""), false},
		"not one over its time":                {pod(failed, "DeadlineExceeded", ""), false},
		"not one that did not fail":            {pod(corev1.PodPending, "OutOfcpu", ""), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := WasRejectedByNode(test.pod); got != test.want {
				t.Errorf("refused: %v", got)
			}
		})
	}
}

// TestARefusedPodIsMadeAgain verifies that a refusal is not a failure and triggers no policy.
func TestARefusedPodIsMadeAgain(t *testing.T) {
	t.Parallel()
	after := func(rounds int32, ago time.Duration) *story {
		s := running().policy(busv1alpha1.AnyEvent, busv1alpha1.RestartJobAction)
		s.Job.Status.RefusedPods = 2 * rounds
		return replacePod(s, 1, corev1.PodFailed, saidOf("OutOfcpu", "no cpu"),
			func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: noon.Add(-ago)} })
	}
	tests := map[string]struct {
		in      *story
		want    []string
		refused int32
		again   time.Duration
	}{
		"at once the first time":        {after(0, 0), []string{"status Running v0 r0", "mark w-1", "delete w-1"}, 1, 0},
		"not so soon the second":        {after(1, 0), []string{"status Pending v0 r0"}, 2, 2 * time.Second},
		"but then":                      {after(1, 2*time.Second), []string{"status Running v0 r0", "mark w-1", "delete w-1"}, 3, 0},
		"a minute at most":              {after(7, 0), []string{"status Pending v0 r0"}, 14, time.Minute},
		"for ever it is not":            {after(8, time.Hour), []string{"status Restarting v1 r1", "delete w-0 w-1", "DeleteGroup"}, 0, 0},
		"nor of a job that is ending":   {after(0, 0).command(busv1alpha1.CompleteJobAction), []string{"status Completing v1 r0", "delete w-0 w-1", "done c0"}, 0, 0},
		"nor of an older version":       {replacePod(running(), 1, corev1.PodFailed, saidOf("OutOfcpu", ""), ofVersion(-1)), []string{"status Running v0 r0", "delete w-1"}, 0, 0},
		"nor beyond the replicas":       {after(0, 0).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }), []string{"status Running v0 r0", "mark w-1", "delete w-1", "PatchGroup"}, 0, 0},
		"one that is stopped is enough": {replacePod(running(), 1, corev1.PodFailed, saidOf("OutOfcpu", ""), marked), []string{"status Running v0 r0", "delete w-1"}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			if diff := cmp.Diff(test.want, lazyAside(digest(&p))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if s := status(test.in, &p); s.RefusedPods != test.refused || s.Failed != 0 && test.refused > 0 {
				t.Errorf("%d were refused, %d failed", s.RefusedPods, s.Failed)
			}
			if p.RequeueAfter != test.again {
				t.Errorf("again after %v, want %v", p.RequeueAfter, test.again)
			}
		})
	}
}

func TestWhatIsSaidOfARefusedPod(t *testing.T) {
	t.Parallel()
	in := running()
	in.Pods = nil
	in.pod("w", 1, corev1.PodFailed, saidOf("OutOfcpu", "no cpu")).pod("w", 0, corev1.PodFailed, saidOf("OutOfpods", "too many pods"))
	p := Compute(in.Input)
	want := []Event{{Type: corev1.EventTypeWarning, Reason: string(reason.PodRefused), Message: "w-0 was rejected by its node (OutOfpods): too many pods; the pod will be re-created, and 1 more"}}
	if diff := cmp.Diff(want, p.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	waits := given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupRunning).with(func(j *batchv1alpha1.Job) { j.Status.RefusedPods = 3 }).
		pod("w", 0, corev1.PodFailed, saidOf("OutOfcpu", "no cpu"), func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{Time: noon} })
	p = Compute(waits.Input)
	if state := status(waits, &p).State; state.Reason != string(reason.PodRefused) || state.Message != "w-0 was rejected by its node (OutOfcpu): no cpu; the pod will be re-created shortly" {
		t.Errorf("%+v", state)
	}
}

func TestARefusedPodThatVanishesIsNoEvent(t *testing.T) {
	t.Parallel()
	s := running()
	s.pod("w", 7, corev1.PodFailed, saidOf("OutOfcpu", ""))
	if lost, ok := LostFromPod(s.Pods[2], noon); ok {
		t.Errorf("%+v", lost)
	}
}
