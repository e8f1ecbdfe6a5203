package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
)

// cluster is a vc-local that a test has started, with clients for it.
type cluster struct {
	t          *testing.T
	dir        string
	kubeconfig string
	config     *rest.Config
	client.WithWatch
	kube *kubernetes.Clientset
	// sizes are the CPUs of the nodes, if the cluster existed before the test.
	sizes []int
}

// startCluster runs `vc-local up` with args in its own directory and stops it when the test ends. If there is an existing
// cluster for the tests, it returns that.
//
// Tests that call it run in parallel, as many at a time as the machine has cores, because they mostly wait. A test that would
// disturb others, or be disturbed by them, calls startClusterAlone.
func startCluster(t *testing.T, args ...string) *cluster {
	t.Helper()
	if !usesExistingCluster() {
		t.Parallel()
	}
	return startClusterAlone(t, args...)
}

// startClusterAlone starts a cluster like startCluster, for a test that measures times, uses the whole machine, or runs its
// own parts in parallel. Package testing runs such tests one after another, before those that call startCluster.
func startClusterAlone(t *testing.T, args ...string) *cluster {
	t.Helper()
	if usesExistingCluster() {
		return useExistingCluster(t, args)
	}
	dir, err := os.MkdirTemp("", "vc-e2e-cluster-")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	up := exec.Command(filepath.Join(binaries, "vc-local"), append([]string{"up", "--dir", dir, "--ephemeral"}, args...)...)
	// The cluster must not outlive a test process that is killed.
	up.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	var stderr lockedBuffer
	up.Stderr = &stderr
	stdout, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		scanLines(stdout, func(line string) {
			if strings.Contains(line, "export KUBECONFIG=") {
				close(ready)
			}
		})
		exited <- up.Wait()
		close(exited) // further receivers must not block
	}()
	t.Cleanup(func() {
		if t.Failed() {
			c.dump()
		}
		_ = up.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(30 * time.Second):
			t.Error("vc-local did not stop within 30 s of SIGTERM")
			_ = up.Process.Kill()
			<-exited
		}
		if out, err := exec.Command(filepath.Join(binaries, "vc-local"), "down", "--dir", dir, "--purge").CombinedOutput(); err != nil {
			t.Errorf("vc-local down: %v\n%s", err, out)
		}
		_ = os.RemoveAll(dir)
	})
	select {
	case <-ready:
	case err := <-exited:
		t.Fatalf("vc-local up ended: %v\n%s", err, stderr.String())
	case <-time.After(90 * time.Second):
		t.Fatalf("vc-local was not ready after 90 s\n%s", stderr.String())
	}
	c.connect()
	return c
}

func (c *cluster) connect() {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			c.t.Fatal(err)
		}
	}
	c.config = config
	if c.WithWatch, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		c.t.Fatal(err)
	}
	if c.kube, err = kubernetes.NewForConfig(config); err != nil {
		c.t.Fatal(err)
	}
}

// lockedBuffer is a bytes.Buffer that a process can write while a test reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func scanLines(r io.Reader, each func(string)) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		each(s.Text())
	}
}

// result is the output and exit code of a command.
type result struct {
	stdout, stderr string
	code           int
}

// run runs one of our programs, or kubectl, for the cluster and waits for it.
func (c *cluster) run(stdin, program string, args ...string) result {
	c.t.Helper()
	return c.runContext(context.Background(), stdin, program, args...)
}

func (c *cluster) runContext(ctx context.Context, stdin, program string, args ...string) result {
	c.t.Helper()
	return c.runIn(ctx, "", stdin, program, args...)
}

// runIn runs a program in a directory. An empty dir is the directory of the test.
func (c *cluster) runIn(ctx context.Context, dir, stdin, program string, args ...string) result {
	c.t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(binaries, program), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.dir)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exit := err.(*exec.ExitError); err != nil && !exit {
		c.t.Fatalf("%s: %v", program, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// must runs a program that must succeed and returns its standard output.
func (c *cluster) must(stdin, program string, args ...string) string {
	c.t.Helper()
	r := c.run(stdin, program, args...)
	if r.code != 0 {
		c.t.Fatalf("%s %s: exit %d\n%s%s", program, strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

func (c *cluster) kubectl(args ...string) string { c.t.Helper(); return c.must("", "kubectl", args...) }
func (c *cluster) vcctl(args ...string) string   { c.t.Helper(); return c.must("", "vcctl", args...) }

// create creates every object of a manifest.
func (c *cluster) create(manifest string) {
	c.t.Helper()
	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		var u unstructured.Unstructured
		err := d.Decode(&u)
		if err == io.EOF {
			return
		}
		if err != nil {
			c.t.Fatal(err)
		}
		if u.Object == nil {
			continue
		}
		if u.GetNamespace() == "" && u.GetKind() != "Queue" && u.GetKind() != "Namespace" {
			u.SetNamespace("default")
		}
		// A namespace gets its service account a moment after it was made.
		c.eventually(20*time.Second, fmt.Sprintf("%s %s is created", u.GetKind(), u.GetName()), func() error {
			err := c.Create(context.Background(), u.DeepCopy())
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
				c.t.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
			}
			return err
		})
	}
}

// eventually calls check until it returns nil. After d, it fails with the last error.
func (c *cluster) eventually(d time.Duration, what string, check func() error) {
	c.t.Helper()
	deadline := time.Now().Add(d)
	for pause := 20 * time.Millisecond; ; pause = min(pause*3/2, 500*time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("after %s, not true: %s: %v", d, what, err)
		}
		time.Sleep(pause)
	}
}

// waitUntilNoneIsLeft waits until count returns 0. How long this takes depends on the machine, so it fails only if the count
// has not decreased for a minute.
func (c *cluster) waitUntilNoneIsLeft(what string, count func() int) {
	c.t.Helper()
	for left := count(); left > 0; {
		c.eventually(time.Minute, fmt.Sprintf("fewer than %d %s are left", left, what), func() error {
			now := count()
			if now >= left {
				return fmt.Errorf("%d are left", now)
			}
			left = now
			return nil
		})
	}
}

// pods returns the pods with some labels by name, without terminating pods.
func (c *cluster) pods(namespace string, labels client.MatchingLabels) map[string]corev1.Pod {
	c.t.Helper()
	var list corev1.PodList
	if err := c.List(context.Background(), &list, client.InNamespace(namespace), labels); err != nil {
		c.t.Fatal(err)
	}
	pods := map[string]corev1.Pod{}
	for _, p := range list.Items {
		pods[p.Name] = p
	}
	return pods
}

// logs returns the log of a pod.
func (c *cluster) logs(namespace, pod string) string {
	c.t.Helper()
	out, err := c.kube.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(context.Background())
	if err != nil {
		c.t.Fatalf("logs of %s: %v", pod, err)
	}
	return string(out)
}

// dump prints the state of the cluster for a failed test.
func (c *cluster) dump() {
	if c.kube == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, args := range [][]string{
		{"get", "queues,jobs.batch.volcano.sh,podgroups,pods,nodes", "-A", "-o", "wide"},
		{"get", "podgroups", "-A", "-o", "jsonpath={range .items[*]}{.metadata.name}{' '}{.status}{'\\n'}{end}"},
		{"get", "events", "-A", "--sort-by=.lastTimestamp"},
	} {
		r := c.runContext(ctx, "", "kubectl", args...)
		c.t.Logf("kubectl %s\n%s%s", strings.Join(args, " "), r.stdout, r.stderr)
	}
	logs, _ := filepath.Glob(filepath.Join(c.dir, "log", "*"))
	for _, l := range logs {
		out, _ := exec.CommandContext(ctx, "tail", "-n", "40", l).Output()
		c.t.Logf("%s\n%s", l, out)
	}
}

// usableNodes returns the nodes that are not cordoned.
func (c *cluster) usableNodes() []corev1.Node {
	c.t.Helper()
	var list corev1.NodeList
	if err := c.List(context.Background(), &list); err != nil {
		c.t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(n corev1.Node) bool { return n.Spec.Unschedulable })
}

// freeMemory returns the bytes of memory of a node that no pod requests.
func (c *cluster) freeMemory(node *corev1.Node) int64 {
	c.t.Helper()
	var list corev1.PodList
	if err := c.List(context.Background(), &list); err != nil {
		c.t.Fatal(err)
	}
	free := node.Status.Allocatable.Memory().Value()
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.Spec.NodeName != node.Name {
			continue
		}
		for j := range pod.Spec.Containers {
			free -= pod.Spec.Containers[j].Resources.Requests.Memory().Value()
		}
	}
	return free
}
