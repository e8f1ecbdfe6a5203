package pytorch

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// WaitContainer is the init container of a worker that ends when the master listens.
const WaitContainer = "wait-for-master"

// waitScript tries host $1, port $2 every two seconds, for $3 seconds. nc is what busybox has; images without it mostly have bash. Each try
// sends nothing, as the master would read it, and has an end of its own: packets to a host that is not there yet may be dropped without an answer.
const waitScript = `end=$(( $(date +%s) + $3 ))
until nc -z -w 2 "$1" "$2" 2>/dev/null || timeout 2 bash -c ': > "/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null; do
  if [ "$(date +%s)" -ge "$end" ]; then
    echo "the master at $1:$2 does not listen after $3 s" >&2
    exit 1
  fi
  sleep 2
done`

// waitForMaster adds the init container, unless the template has one of that name. It runs as the pod's first container may, so that a
// namespace that allows that one allows this one too.
func waitForMaster(pod *corev1.Pod, master string, port, timeout int32, image string) {
	if slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == WaitContainer }) {
		return
	}
	wait := corev1.Container{
		Name: WaitContainer, Image: image,
		Command: []string{"sh", "-c", waitScript, "sh", master, fmt.Sprint(port), fmt.Sprint(timeout)},
	}
	if len(pod.Spec.Containers) > 0 {
		wait.SecurityContext = pod.Spec.Containers[0].SecurityContext.DeepCopy()
	}
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, wait)
}
