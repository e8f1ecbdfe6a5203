package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func init() {
	registerAction("reboot-node", 2, onNode(func(s *drawing, node string) *action {
		length := between(s.Rand, 5*time.Second, time.Minute)
		return s.action(func(w *World) { w.rebootNode(node, length) }, "%s reboots within %s, which ends the containers on it", node, length.Round(time.Second))
	}))
	expectCoverage("rebooted node", 2)
}

// exitCodeOfReboot is the exit code that containerd reports for a container that ran when its node stopped.
const exitCodeOfReboot = 255

// rebootNode stops a node and starts it again. Its containers end with exitCodeOfReboot.
func (w *World) rebootNode(name string, length time.Duration) {
	k := w.kubelet(name)
	if k == nil || k.process == nil {
		return
	}
	w.loseNode(name)
	k.interrupted = map[types.UID]bool{}
	for _, pod := range w.pods() {
		if pod.Spec.NodeName == name && pod.Status.Phase == corev1.PodRunning {
			k.interrupted[pod.UID] = true
			w.cover("rebooted node", "a pod with restart policy "+string(pod.Spec.RestartPolicy))
		}
	}
	w.add(w.now.Add(length), nil, func() { w.returnNode(name) })
}

// endInterruptedRun ends the containers of a pod that ran when the node stopped.
func (k *kubelet) endInterruptedRun(pod *corev1.Pod, life *podLife) {
	delete(k.interrupted, pod.UID)
	life.stage = running
	life.behavior.exitCode, life.behavior.outOfMem = exitCodeOfReboot, false
	k.endRun(pod.Namespace, pod.Name, pod.UID, life)
}
