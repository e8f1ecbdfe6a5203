package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/processnode"
)

// asProgram is the environment variable that makes the test binary act as vc-local.
const asProgram = "VC_LOCAL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	processnode.ShimMain()
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program runs vc-local with a separate directory.
type program struct {
	t   *testing.T
	dir string
}

func (p program) run(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "--dir", p.dir)...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+p.t.TempDir())
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// must runs a command that has to succeed.
func (p program) must(args ...string) (stdout, stderr string) {
	p.t.Helper()
	stdout, stderr, code := p.run(args...)
	if code != 0 {
		log, _ := os.ReadFile(p.dir + "/log/vc-local.log")
		p.t.Fatalf("vc-local %s: exit %d\nstdout %s\nstderr %s\nlog %s", strings.Join(args, " "), code, stdout, stderr, log)
	}
	return stdout, stderr
}

func (p program) status() local.Status {
	p.t.Helper()
	text, _ := p.must("status", "-o", "json")
	var status local.Status
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		p.t.Fatalf("status -o json: %v\n%s", err, text)
	}
	return status
}

func (p program) client(exportLine string) kubernetes.Interface {
	p.t.Helper()
	path, found := strings.CutPrefix(strings.TrimSpace(exportLine), "export KUBECONFIG=")
	if !found {
		p.t.Fatalf("up printed %q", exportLine)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		p.t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

// newProgram returns a program for which `down --purge` runs at the end of the test in any case.
func newProgram(t *testing.T) program {
	if testing.Short() {
		t.Skip("starts a real control plane")
	}
	p := program{t: t, dir: filepath.Join(t.TempDir(), "state")}
	t.Cleanup(func() { p.run("down", "--purge") })
	return p
}

func TestAClusterIsStartedUsedRestartedAndRemoved(t *testing.T) {
	p := newProgram(t)
	begun := time.Now()
	export, progress := p.must("up", "--detach", "--process-nodes=1", "--simulated-nodes=2", "--node-cpu=3", "--node-memory=4Gi")
	t.Logf("up took %s\n%s", time.Since(begun), progress)
	for _, part := range []string{"etcd ready", "kube-apiserver ready", "1 process node ready", "2 simulated nodes ready", "cluster ready"} {
		if !strings.Contains(progress, part) {
			t.Errorf("progress has no line %q", part)
		}
	}
	client := p.client(export)
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), made, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	status := p.status()
	if status.State != "running" || len(status.Nodes) != 3 || status.Kubernetes == "" {
		t.Errorf("status %+v", status)
	}
	for _, node := range status.Nodes {
		if !node.Ready || node.CPU != "3" || node.Memory != "4Gi" {
			t.Errorf("node %+v", node)
		}
	}
	t.Run("up again says that it runs, and exits 0", func(t *testing.T) {
		again, note := p.must("up", "--detach")
		if again != export || !strings.Contains(note, "already running") {
			t.Errorf("stdout %q, stderr %q", again, note)
		}
	})
	t.Run("nodes come and go while it runs", func(t *testing.T) {
		if added, _ := p.must("nodes", "add", "--simulated=1", "--name=big", "--cpu=64", "--taint=a=b:NoSchedule"); added != "node/big added\n" {
			t.Errorf("add printed %q", added)
		}
		p.must("nodes", "add", "--process=1")
		runPod(t, client, "goes", "node-2")
		runPod(t, client, "stays", "node-1")
		p.must("nodes", "remove", "sim-2", "node-2")
		if _, err := client.CoreV1().Pods("default").Get(t.Context(), "goes", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the pod of the node that was removed: %v", err)
		}
		if pod, err := client.CoreV1().Pods("default").Get(t.Context(), "stays", metav1.GetOptions{}); err != nil || pod.Status.Phase != corev1.PodRunning {
			t.Errorf("the pod of another node: %v, %v", pod.Status.Phase, err)
		}
		if _, refused, code := p.run("nodes", "add", "--simulated=1", "--name=big"); code != 1 || !strings.Contains(refused, `node "big" already exists`) {
			t.Errorf("a name twice: exit %d, %s", code, refused)
		}
		wantNodes(t, p, "big", "node-1", "sim-1")
		if added, _ := p.must("nodes", "add", "--simulated=12", "--name=many"); added != "12 nodes added: many-1 ... many-12\n" {
			t.Errorf("add printed %q", added)
		}
		if removed, _ := p.must("nodes", "remove", "--simulated=12"); removed != "12 nodes removed: many-2 ... sim-1\n" {
			t.Errorf("remove printed %q", removed)
		}
		wantNodes(t, p, "big", "many-1", "node-1")
		removed, refused, code := p.run("nodes", "remove", "nowhere", "many-1")
		if removed != "node/many-1 removed\n" || code != 1 || !strings.Contains(refused, `node "nowhere" does not exist`) {
			t.Errorf("a missing one: exit %d, %q, %s", code, removed, refused)
		}
		p.must("nodes", "add", "--simulated=1")
		wantNodes(t, p, "big", "node-1", "sim-1")
	})
	t.Run("a killed process is noticed, and up goes on with its data", func(t *testing.T) {
		if err := syscall.Kill(p.status().PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the lock is free", func() bool { return p.status().State == "stopped" })
		if note := p.status().Note; !strings.Contains(note, "might have been killed") {
			t.Errorf("note %q", note)
		}
		again, _ := p.must("up", "--detach")
		if again != export {
			t.Errorf("kubeconfig or port changed: %q", again)
		}
		if _, err := p.client(again).CoreV1().ConfigMaps("default").Get(t.Context(), "made", metav1.GetOptions{}); err != nil {
			t.Errorf("what was made before: %v", err)
		}
		wantNodes(t, p, "big", "node-1", "sim-1")
	})
	t.Run("a claim gets a volume", func(t *testing.T) { claimIsBound(t, p.client(export)) })

	if told, _ := p.must("down"); !strings.Contains(told, "\n1 running pod was stopped; jobs that do not restart") {
		t.Errorf("down printed %q", told)
	}
	if status := p.status(); status.State != "stopped" || status.Note != "" {
		t.Errorf("after down: %+v", status)
	}
	p.must("down", "--purge")
	if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
		t.Errorf("after down --purge: %v", err)
	}
}

func TestAnEphemeralClusterLeavesNothing(t *testing.T) {
	p := newProgram(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_, refused, code := p.run("up", "--detach", "--ephemeral", "--components=api", "--process-nodes=0", "--port="+port)
	if code != 1 || !strings.Contains(refused, "error: port "+port+" on 127.0.0.1 is in use\nhint:  ") {
		t.Errorf("a port in use: exit %d, %s", code, refused)
	}
	if status := p.status(); status.PID != 0 {
		t.Errorf("something is left running: %+v", status)
	}
	_ = listener.Close()
	export, _ := p.must("up", "--detach", "--ephemeral", "--components=api", "--process-nodes=0", "--port="+port)
	if _, err := p.client(export).Discovery().ServerVersion(); err != nil {
		t.Error(err)
	}
	pid := p.status().PID
	p.must("down")
	if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	eventually(t, "the process is gone", func() bool { return !alive(pid) })
}

// runPod creates a pod on a process node and waits until it is running.
func runPod(t *testing.T, client kubernetes.Interface, name, node string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pod.Spec.NodeName = node
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "none", Command: []string{"sleep", "1000"}}}
	pods := client.CoreV1().Pods("default")
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "pod "+name+" runs", func() bool {
		got, err := pods.Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && got.Status.Phase == corev1.PodRunning
	})
}

func wantNodes(t *testing.T, p program, want ...string) {
	t.Helper()
	names := []string{}
	for _, node := range p.status().Nodes {
		names = append(names, node.Name)
	}
	if got := strings.Join(names, " "); got != strings.Join(want, " ") {
		t.Errorf("nodes %s, want %s", got, strings.Join(want, " "))
	}
}

func claimIsBound(t *testing.T, client kubernetes.Interface) {
	ctx := t.Context()
	claims := client.CoreV1().PersistentVolumeClaims("default")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	if _, err := claims.Create(ctx, claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim is bound", func() bool {
		got, err := claims.Get(ctx, "data", metav1.GetOptions{})
		return err == nil && got.Status.Phase == corev1.ClaimBound
	})
	bound, err := claims.Get(ctx, "data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	volume, err := client.CoreV1().PersistentVolumes().Get(ctx, bound.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := volume.Spec.HostPath.Path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		t.Errorf("the directory of the volume: %v", err)
	}
	if err := claims.Delete(ctx, "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume and its directory go with the claim", func() bool {
		_, missing := os.Stat(path)
		_, err := client.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		return os.IsNotExist(missing) && apierrors.IsNotFound(err)
	})
}

// alive reports whether the process is running. A zombie is not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// eventually polls until the condition holds, for a minute at most.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func TestAStartThatIsInterruptedLeavesNothingRunning(t *testing.T) {
	p := newProgram(t)
	cmd := exec.Command(os.Args[0], "up", "--detach", "--process-nodes=0", "--dir", p.dir)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// etcd is ready and the API server is starting: the most critical moment.
	if _, err := stderr.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d, want %d", code, exitInterrupted)
	}
	if status := p.status(); status.State != "stopped" || status.Note != "" {
		log, _ := os.ReadFile(p.dir + "/log/vc-local.log")
		t.Errorf("status %+v\n%s", status, log)
	}
}
