package pytorch

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// WaitContainer is the name of the init container that makes a worker wait until the master accepts connections.
const WaitContainer = "wait-for-master"

// waitScript tries to connect to host $1, port $2 every two seconds, for at most $3 seconds. It uses nc, which
// busybox contains, or otherwise bash. It sends no data, because the master would read it. Each attempt has its own
// timeout, because packets to a host that does not exist yet may be dropped without a response.
const waitScript = `end=$(( $(date +%s) + $3 ))
until nc -z -w 2 "$1" "$2" 2>/dev/null || timeout 2 bash -c ': > "/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null; do
  if [ "$(date +%s)" -ge "$end" ]; then
    echo "the master at $1:$2 does not listen after $3 s" >&2
    exit 1
  fi
  sleep 2
done`

// waitForMaster adds the init container, unless the template already has a container with that name. It copies the
// security context of the pod's first container, so that a namespace that permits the pod's container also permits
// this one.
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
