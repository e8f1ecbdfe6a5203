package processnode

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
)

// TestJobPodsFindEachOther covers the requirements of sshd on port 22 in every pod: names resolve and ports do not
// collide, on two nodes.
func TestJobPodsFindEachOther(t *testing.T) {
	node, _ := startNode(t, "net-a")
	startNode(t, "net-b")
	if node.machine.bridge == nil {
		t.Skip("no bridge on this machine: ", node.machine.missing)
	}
	ns := namespace(t)
	member := func(name, node, script string) *corev1.Pod {
		return shell(name, node, script, func(pod *corev1.Pod) { pod.Spec.Hostname, pod.Spec.Subdomain = name, "job" })
	}
	const serve = `python3 -c '
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("", 22)); s.listen()
while True:
    c, _ = s.accept(); c.sendall(("I am " + socket.gethostname() + "\n").encode()); c.close()
'`
	create(t, ns, member("worker-0", "net-a", serve))
	create(t, ns, member("worker-1", "net-b", serve))
	create(t, ns, member("master", "net-a", `
		python3 - <<'END'
import socket, time
for name in ("worker-0.job", "worker-1.job.`+ns+`.svc.cluster.local", "worker-1"):
    for attempt in range(100):
        try:
            print(socket.create_connection((name, 22), 5).recv(100).decode().strip())
            break
        except OSError as e:
            last = e
            time.sleep(0.1)
    else:
        print(name, last)
END`))
	untilPhase(t, ns, "master", corev1.PodSucceeded)
	if got := logs(t, ns, "master", corev1.PodLogOptions{}); got != "I am worker-0\nI am worker-1\nI am worker-1\n" {
		t.Errorf("got %q", got)
	}
	remove(t, ns, "worker-1", 0)
	eventually(t, waitLimit, "the name of a deleted pod to go", func() bool {
		create(t, ns, member("look", "net-a", "cat /etc/hosts"))
		untilPhase(t, ns, "look", corev1.PodSucceeded)
		text := logs(t, ns, "look", corev1.PodLogOptions{})
		remove(t, ns, "look", 0)
		eventually(t, waitLimit, "pod look to go", func() bool { return get(t, ns, "look") == nil })
		return strings.Contains(text, "worker-0.job") && !strings.Contains(text, "worker-1.job")
	})
}

// TestNamesOnTheSharedNetwork covers a node that may not create a bridge: all pods share one address, and all names
// still resolve.
func TestNamesOnTheSharedNetwork(t *testing.T) {
	startNode(t, "shared", func(n *Node) {
		n.machine = &machine{directory: n.machine.directory, loopback: n.machine.loopback, permitted: n.machine.permitted, groups: &cgroup.Manager{}, names: map[types.UID]*hostsEntry{}}
	})
	ns := namespace(t)
	member := func(name, script string) *corev1.Pod {
		return shell(name, "shared", script, func(pod *corev1.Pod) { pod.Spec.Hostname, pod.Spec.Subdomain = name, "job" })
	}
	create(t, ns, member("master", `
		for name in worker-0.job worker-1.job.`+ns+`.svc.cluster.local worker-1; do
			until getent hosts $name >/dev/null; do sleep 0.05; done
		done
		echo found
		while getent hosts worker-1.job >/dev/null; do sleep 0.05; done
		getent hosts worker-0.job >/dev/null && echo gone`))
	create(t, ns, member("worker-0", "sleep 1000"))
	create(t, ns, member("worker-1", "sleep 1000"))
	eventually(t, waitLimit, "the names of pods that came later", func() bool {
		pod := get(t, ns, "master")
		return pod.Status.Phase == corev1.PodRunning && strings.Contains(logs(t, ns, "master", corev1.PodLogOptions{}), "found")
	})
	remove(t, ns, "worker-1", 0)
	untilPhase(t, ns, "master", corev1.PodSucceeded)
	if got := logs(t, ns, "master", corev1.PodLogOptions{}); got != "found\ngone\n" {
		t.Errorf("got %q", got)
	}
}

// TestPodReachesTheAPIServer covers pods with a network of their own and pods on the machine's network. An ordinary
// user has only the second.
func TestPodReachesTheAPIServer(t *testing.T) {
	startNode(t, "api")
	for name, hostNetwork := range map[string]bool{"pod": false, "host": true} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			create(t, ns, shell("caller", "api", `
				d=/var/run/secrets/kubernetes.io/serviceaccount
				curl -sS --max-time 5 --cacert $d/ca.crt -H "Authorization: Bearer $(cat $d/token)" https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/api/v1/namespaces/$(cat $d/namespace)/pods`,
				func(pod *corev1.Pod) { pod.Spec.HostNetwork = hostNetwork }))
			untilPhase(t, ns, "caller", corev1.PodSucceeded)
			contains(t, logs(t, ns, "caller", corev1.PodLogOptions{}), "system:serviceaccount:"+ns+":default", "Forbidden")
		})
	}
}

func TestContainersOfAPodShareItsNetwork(t *testing.T) {
	node, _ := startNode(t, "share")
	ns := namespace(t)
	const connect = `python3 -c '
import socket, time
for i in range(100):
    try:
        print(socket.create_connection(("127.0.0.1", 7070), 5).recv(9).decode()); break
    except OSError:
        time.sleep(0.05)
else:
    raise SystemExit(1)'`
	create(t, ns, shell("two", "share", connect, func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "server", Image: "none", Command: []string{"python3", "-c", `
import socket
s = socket.create_server(("127.0.0.1", 7070)); c, _ = s.accept(); c.sendall(b"inside"); c.close()`}})
	}))
	if untilPhase(t, ns, "two", corev1.PodSucceeded); logs(t, ns, "two", corev1.PodLogOptions{Container: "main"}) != "inside\n" {
		t.Error("one container does not reach the other")
	}
	create(t, ns, shell("host", "share", "curl -sk --max-time 5 "+admin.Host+"/version", func(pod *corev1.Pod) { pod.Spec.HostNetwork = true }))
	pod := untilPhase(t, ns, "host", corev1.PodSucceeded)
	contains(t, logs(t, ns, "host", corev1.PodLogOptions{}), "{")
	if pod.Status.PodIP != node.hostIP {
		t.Errorf("address %s of a pod on the machine's network", pod.Status.PodIP)
	}
}

// TestPodsWithoutABridgeCanListenOnTheSamePort runs two servers on one port, each at its pod's address, as pods of an
// ordinary user do.
func TestPodsWithoutABridgeCanListenOnTheSamePort(t *testing.T) {
	node, _ := startNode(t, "ports")
	if node.machine.bridge != nil {
		t.Skip("pods have networks of their own here")
	}
	ns := namespace(t)
	for _, name := range []string{"one", "two"} {
		create(t, ns, shell(name, "ports", `exec python3 -c 'import os, socket, time
s = socket.create_server((os.environ["POD_IP"], 7171)); print("listens", flush=True); time.sleep(60)'`, func(pod *corev1.Pod) {
			field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "POD_IP", ValueFrom: field}}
		}))
	}
	for _, name := range []string{"one", "two"} {
		until(t, ns, name, "is running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
		eventually(t, 20*time.Second, name+" listens", func() bool {
			return strings.Contains(logs(t, ns, name, corev1.PodLogOptions{}), "listens")
		})
	}
}
