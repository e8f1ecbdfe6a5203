package processnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMPIOverSSH is scenario 9 without a job: a real sshd on port 22 in each worker, reached by name and key. The files
// are at the same places as with the ssh and svc plugins.
func TestMPIOverSSH(t *testing.T) {
	for _, program := range []string{"/usr/sbin/sshd", "/usr/bin/mpiexec", "/usr/bin/ssh-keygen"} {
		if _, err := os.Stat(program); err != nil {
			t.Skipf("SKIPPED: %s is not installed (Debian: openssh-server, openmpi-bin)", program)
		}
	}
	node, _ := startNode(t, "mpi")
	if node.machine.bridge == nil {
		t.Skip("no bridge on this machine: ", node.machine.missing)
	}
	ns := namespace(t)
	keys := filepath.Join(t.TempDir(), "id_rsa")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", keys).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %s", out)
	}
	private, _ := os.ReadFile(keys)
	public, _ := os.ReadFile(keys + ".pub")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "ssh"}, Data: map[string][]byte{
		"id_rsa": private, "authorized_keys": public, "config": []byte("StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"),
	}}
	if _, err := client.CoreV1().Secrets(ns).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	member := func(name, script string) {
		create(t, ns, shell(name, "mpi", script, func(pod *corev1.Pod) {
			pod.Spec.Hostname, pod.Spec.Subdomain = name, "job"
			pod.Spec.Volumes = []corev1.Volume{{Name: "ssh", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "ssh", DefaultMode: ptrTo(int32(0o600))}}}}
			pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "ssh", MountPath: "/root/.ssh"}}
			pod.Spec.Containers[0].WorkingDir = "/home"
		}))
	}
	member("w0", "mkdir -p /var/run/sshd; /usr/sbin/sshd -D -e;")
	member("w1", "mkdir -p /var/run/sshd; /usr/sbin/sshd -D -e;")
	untilPhase(t, ns, "w0", corev1.PodRunning)
	untilPhase(t, ns, "w1", corev1.PodRunning)
	member("master", `mkdir -p /var/run/sshd; /usr/sbin/sshd
		mpiexec --allow-run-as-root --host w0.job,w1.job -np 2 sh -c 'echo Hello from $(hostname), rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE'`)
	pod := until(t, ns, "master", "over", func(pod *corev1.Pod) bool { return terminated(pod) != nil })
	text := logs(t, ns, "master", corev1.PodLogOptions{})
	if pod.Status.Phase != corev1.PodSucceeded || !strings.Contains(text, "Hello from w0, rank 0 of 2\n") || !strings.Contains(text, "Hello from w1, rank 1 of 2\n") {
		t.Errorf("phase %s\n%s\n-- w0:\n%s", pod.Status.Phase, text, logs(t, ns, "w0", corev1.PodLogOptions{}))
	}
}
