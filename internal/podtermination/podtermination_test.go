package podtermination

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodIsKilledIfItWasStoppedBeforeItFinished(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		phase         corev1.PodPhase
		told, ended   time.Duration // after the creation; 0: never
		grace         int64
		finished, out bool
	}{
		"runs":                                   {phase: corev1.PodRunning},
		"runs and is told to go":                 {phase: corev1.PodRunning, told: time.Minute},
		"is done":                                {phase: corev1.PodSucceeded, ended: time.Minute, finished: true},
		"ends with 0 when told":                  {phase: corev1.PodSucceeded, told: time.Minute, ended: 61 * time.Second, finished: true, out: true},
		"ends with 143 when told":                {phase: corev1.PodFailed, told: time.Minute, ended: 61 * time.Second, finished: true, out: true},
		"ends within its grace period":           {phase: corev1.PodSucceeded, told: time.Minute, grace: 30, ended: 80 * time.Second, finished: true, out: true},
		"was done, and then told to go":          {phase: corev1.PodSucceeded, told: 2 * time.Minute, grace: 30, ended: time.Minute, finished: true},
		"was done before the grace period began": {phase: corev1.PodFailed, told: time.Minute, grace: 30, ended: 59 * time.Second, finished: true},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}}
		pod.Status.Phase = c.phase
		if c.told > 0 {
			by := metav1.NewTime(made.Add(c.told + time.Duration(c.grace)*time.Second))
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &by, &c.grace
		}
		if c.ended > 0 {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{
				{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(made.Add(time.Second))}}},
				{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(made.Add(c.ended))}}},
			}
		}
		if got := HasFinished(pod); got != c.finished {
			t.Errorf("%s: finished: %v", name, got)
		}
		if got := WasDeletedBeforeEnd(pod); got != c.out {
			t.Errorf("%s: killed: %v", name, got)
		}
	}
}

func TestEvictionMessage(t *testing.T) {
	t.Parallel()
	message := EvictionMessage("volcano", "gang nlp/train takes its nodes")
	if want := "volcano: preempting to accommodate another workload: gang nlp/train takes its nodes"; message != want {
		t.Errorf("message %q, want %q", message, want)
	}
	for text, want := range map[string]string{message: "gang nlp/train takes its nodes", "the node is drained": "the node is drained"} {
		if got := EvictionCause(text); got != want {
			t.Errorf("the cause of %q is %q, want %q", text, got, want)
		}
	}
}
