package processnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
	"github.com/vc-batch/vc/internal/local/processnode/network"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// TestKilledNodeLeavesNothing kills a node's process without warning.
func TestKilledNodeLeavesNothing(t *testing.T) {
	nodes := filepath.Join(base, "crash")
	command := exec.Command("/proc/self/exe")
	command.Env = append(os.Environ(), asNode+"=crash", "KUBECONFIG="+plane.KubeconfigPath(), "VC_TEST_DIR="+filepath.Join(nodes, "crash"))
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = command.Process.Kill() }()
	ns := namespace(t)
	marker := "crash-" + ns
	script := []string{"bash", "-c", "setsid bash -c 'exec -a " + marker + " sleep 1000' & exec -a " + marker + " sleep 1000"}
	for _, pod := range []*corev1.Pod{shell("never", "crash", ""), shell("onfailure", "crash", "", func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })} {
		pod.Spec.Containers[0].Command = script
		create(t, ns, pod)
	}
	untilPhase(t, ns, "never", corev1.PodRunning)
	untilPhase(t, ns, "onfailure", corev1.PodRunning)
	eventually(t, waitLimit, "processes", func() bool { return count(t, marker) == 4 })
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	eventually(t, waitLimit, "processes to go", func() bool { return count(t, marker) == 0 })
	if err := CleanUpNodes(nodes); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/sys/class/net/" + network.BridgeName(nodes)); err == nil {
		t.Error("the bridge is left")
	}
	for _, directory := range cgroup.Open(nodes).GroupDirectories() {
		entries, _ := os.ReadDir(directory)
		for _, entry := range entries {
			if entry.IsDir() {
				t.Errorf("%s/%s is left", directory, entry.Name())
			}
		}
		cgroup.RemoveGroups([]string{directory})
	}
	if left, _ := filepath.Glob(filepath.Join(nodes, "*", "pods", "*", "containers")); len(left) != 0 {
		t.Errorf("roots are left: %v", left)
	}
	// A node with the same name takes over.
	config := testConfig(t, "crash")
	config.Dir = filepath.Join(nodes, "crash")
	node, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	runNode(t, node)
	untilPhase(t, ns, "never", corev1.PodFailed)
	until(t, ns, "onfailure", "restarted", func(pod *corev1.Pod) bool {
		return pod.Status.ContainerStatuses[0].RestartCount == 1 && pod.Status.ContainerStatuses[0].State.Running != nil
	})
	t.Cleanup(func() { _ = CleanUpNodes(nodes) })
}

// TestLesserRights runs a pod with the permissions of an ordinary user, and with none.
func TestLesserRights(t *testing.T) {
	cases := map[string]sandbox.Permitted{
		"user":   {Level: sandbox.LevelUser, Root: shim.RootOverlay},
		"pieces": {Level: sandbox.LevelFull, Root: shim.RootPieces},
		"memory": {Level: sandbox.LevelFull, Root: shim.RootMemory},
		"plain":  {Level: sandbox.LevelPlain, Root: shim.RootNone},
	}
	for name, permitted := range cases {
		t.Run(name, func(t *testing.T) {
			if permitted.Level == sandbox.LevelFull && os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			startNode(t, name, func(n *Node) {
				lesser := &machine{directory: n.machine.directory, loopback: n.machine.loopback, permitted: permitted, groups: &cgroup.Manager{}, names: n.machine.names}
				n.machine = lesser
			})
			ns := namespace(t)
			create(t, ns, shell("p", name, "[ -e /v/f ] && cat /v/f || cat $VC_VOLUMES/v/f; echo $HOME $(id -u); setsid sleep 987654 & exit 3", func(pod *corev1.Pod) {
				pod.Annotations = map[string]string{"said": "by the pod"}
				pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
					Items: []corev1.DownwardAPIVolumeFile{{Path: "f", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['said']"}}}}}}}
				pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
			}))
			if end := terminated(untilPhase(t, ns, "p", corev1.PodFailed)); end.ExitCode != 3 {
				t.Errorf("got %+v", end)
			}
			contains(t, logs(t, ns, "p", corev1.PodLogOptions{}), "by the pod")
			create(t, ns, shell("long", name, "trap 'echo stopped; exit 0' TERM; while :; do sleep 0.05; done"))
			untilPhase(t, ns, "long", corev1.PodRunning)
			if out, _, code := execIn(t, ns, "long", true, "", "sh", "-c", "echo x; exit 2"); out != "x\n" || code != 2 {
				t.Errorf("exec: %q %d", out, code)
			}
			remove(t, ns, "long", 5)
			eventually(t, waitLimit, "pod to go", func() bool { return get(t, ns, "long") == nil })
			if n := count(t, "sleep 987654"); n != 0 {
				t.Errorf("%d daemons outlived their container", n)
			}
		})
	}
}
