package processnode

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/vc-batch/vc/internal/local/controlplane"
)

// waitLimit is the timeout of every wait in these tests.
const waitLimit = 20 * time.Second

// All tests share one control plane. Each has its own namespace.
var (
	plane  *controlplane.ControlPlane
	client kubernetes.Interface
	admin  *rest.Config
	base   string
)

func TestMain(m *testing.M) {
	ShimMain()
	if name := os.Getenv(asNode); name != "" {
		os.Exit(runAsNode(name))
	}
	os.Exit(runTests(m))
}

// asNode is the environment variable that makes the test binary run only a node, so that a test can kill it.
const asNode = "VC_TEST_RUN_AS_NODE"

func runAsNode(name string) int {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		var node *Node
		if node, err = New(Config{Name: name, REST: config, Dir: os.Getenv("VC_TEST_DIR")}); err == nil {
			err = node.Run(context.Background())
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func runTests(m *testing.M) int {
	var err error
	if base, err = os.MkdirTemp("", "vc-processnode-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(base)
	if plane, err = controlplane.Start(context.Background(), controlplane.Options{Dir: base, Ephemeral: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer plane.Stop()
	admin = plane.RESTConfig()
	if client, err = kubernetes.NewForConfig(admin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = CleanUpNodes(filepath.Join(base, "nodes")) }()
	return m.Run()
}

// testConfig returns the configuration of a node with the certificates for logs and exec.
func testConfig(t *testing.T, name string) Config {
	t.Helper()
	certificate, key, err := plane.PKI().NewServingCert(name, "127.0.0.1", name)
	if err != nil {
		t.Fatal(err)
	}
	serving, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	authority := x509.NewCertPool()
	text, err := os.ReadFile(plane.PKI().CACert())
	if err != nil || !authority.AppendCertsFromPEM(text) {
		t.Fatal("no CA", err)
	}
	return Config{
		Name: name, REST: admin, Dir: filepath.Join(base, "nodes", name), Mask: []string{base}, Serving: serving, ClientCA: authority,
		BackOffBase: 300 * time.Millisecond, Warn: func(line string) { t.Log("limit:", line) },
	}
}

// startNode runs a node for a test. The returned function stops it, which also happens at the end of the test. change
// receives the node before it runs.
func startNode(t *testing.T, name string, change ...func(*Node)) (*Node, func()) {
	t.Helper()
	node, err := New(testConfig(t, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(node)
	}
	return node, runNode(t, node)
}

func runNode(t *testing.T, node *Node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- node.Run(ctx) }()
	select {
	case <-node.Ready():
	case err := <-done:
		t.Fatal("node ended: ", err)
	case <-time.After(20 * time.Second):
		t.Fatal("node is not ready")
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// namespace creates a namespace and waits for its default service account.
func namespace(t *testing.T) string {
	t.Helper()
	made, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "default service account", func() bool {
		_, err := client.CoreV1().ServiceAccounts(made.Name).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	return made.Name
}

func eventually(t *testing.T, limit time.Duration, what string, check func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, limit, true, func(context.Context) (bool, error) { return check(), nil })
	if err != nil {
		t.Fatalf("%s: not within %s", what, limit)
	}
}

// shell returns a pod with one container that runs a shell script.
func shell(name, node, script string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](5),
			Containers: []corev1.Container{{Name: "main", Image: "none:local", Command: []string{"/bin/sh", "-c", script}}},
		},
	}
	for _, f := range change {
		f(pod)
	}
	return pod
}

func create(t *testing.T, ns string, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	made, err := client.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func get(t *testing.T, ns, name string) *corev1.Pod {
	t.Helper()
	pod, err := client.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// until waits for a state of a pod.
func until(t *testing.T, ns, name, what string, check func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var last *corev1.Pod
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, waitLimit, true, func(context.Context) (bool, error) {
		last = get(t, ns, name)
		return last != nil && check(last), nil
	})
	if err != nil {
		if last != nil {
			t.Logf("status: %+v", last.Status)
		}
		events, _ := client.CoreV1().Events(ns).List(context.Background(), metav1.ListOptions{})
		for _, event := range events.Items {
			t.Logf("event: %s %s: %s", event.InvolvedObject.Name, event.Reason, event.Message)
		}
		t.Fatalf("pod %s: not %s", name, what)
	}
	return last
}

func untilPhase(t *testing.T, ns, name string, phase corev1.PodPhase) *corev1.Pod {
	t.Helper()
	return until(t, ns, name, string(phase), func(pod *corev1.Pod) bool { return pod.Status.Phase == phase })
}

func logs(t *testing.T, ns, name string, options corev1.PodLogOptions) string {
	t.Helper()
	stream, err := client.CoreV1().Pods(ns).GetLogs(name, &options).Stream(t.Context())
	if err != nil {
		t.Fatalf("logs of %s: %v", name, err)
	}
	defer stream.Close()
	var text bytes.Buffer
	if _, err := io.Copy(&text, stream); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func remove(t *testing.T, ns, name string, grace int64) {
	t.Helper()
	if err := client.CoreV1().Pods(ns).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		t.Fatal(err)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}
