package processnode

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestPodRunsEndsAndKeepsItsLog(t *testing.T) {
	startNode(t, "thin")
	ns := namespace(t)
	began := time.Now()
	create(t, ns, shell("hello", "thin", "echo hello from $(hostname); echo bad >&2; cat /etc/hosts; exit 0"))
	pod := untilPhase(t, ns, "hello", corev1.PodSucceeded)
	t.Logf("from create to Succeeded: %s", time.Since(began))
	contains(t, logs(t, ns, "hello", corev1.PodLogOptions{}), "hello from hello\n", "bad\n", pod.Status.PodIP+"\thello")
	status := pod.Status.ContainerStatuses[0]
	if status.State.Terminated == nil || status.State.Terminated.Reason != "Completed" || status.RestartCount != 0 {
		t.Errorf("status %+v", status)
	}
	create(t, ns, shell("fails", "thin", "exit 7"))
	if code := untilPhase(t, ns, "fails", corev1.PodFailed).Status.ContainerStatuses[0].State.Terminated.ExitCode; code != 7 {
		t.Errorf("exit code %d", code)
	}
}
