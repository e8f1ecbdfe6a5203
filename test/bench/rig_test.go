package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/vc-batch/vc/api"
	"github.com/vc-batch/vc/deploy"

	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/local/simnode"
)

// rig is an API server with simulated nodes.
type rig struct {
	config *rest.Config
	core   kubernetes.Interface // protobuf, no rate limit: the bare loop's client
	ours   client.Client
	nodes  []string
	path   string // kubeconfig
	pods   *podWatch
	start  string // how long after their bind pods start; empty: never
}

// annotations returns the annotations of pods that set this delay for simulated nodes.
func (r *rig) annotations() map[string]string {
	if r.start == "" {
		return nil
	}
	return map[string]string{simnode.AnnotationStartDelay: r.start}
}

// startRig starts a control plane with this number of nodes. It is stopped when the test ends.
func startRig(t *testing.T, nodes int) *rig {
	t.Helper()
	klog.LogToStderr(false)
	klog.SetOutput(discard{})
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: dir, Ephemeral: true})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		plane.Stop()
	})
	r := &rig{config: plane.RESTConfig(), path: plane.KubeconfigPath()}
	fast := rest.CopyConfig(r.config)
	fast.QPS, fast.ContentType = -1, "application/vnd.kubernetes.protobuf"
	r.core = kubernetes.NewForConfigOrDie(fast)
	r.ours = newClient(t, r.config)
	installKinds(t, r.ours)

	fleet, err := simnode.New(simnode.Config{RESTConfig: plane.RESTConfig(), Count: nodes, StartDelay: simnode.Never})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := fleet.Run(ctx); err != nil {
			t.Errorf("simulated nodes: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	select {
	case <-fleet.Ready():
	case <-time.After(3 * time.Minute):
		t.Fatal("simulated nodes are not ready after three minutes")
	}
	r.nodes = fleet.ServedNodeNames()
	r.pods = watchPods(ctx, t, fast)
	return r
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	fast := rest.CopyConfig(config)
	fast.QPS = -1
	c, err := client.New(fast, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func installKinds(t *testing.T, c client.Client) {
	t.Helper()
	for _, crd := range deploy.CRDs() {
		if err := c.Create(t.Context(), crd); err != nil {
			t.Fatalf("CRD %s: %v", crd.Name, err)
		}
	}
	for _, crd := range deploy.CRDs() {
		eventually(t, time.Minute, "CRD "+crd.Name+" is served", func() bool {
			var now apiextensionsv1.CustomResourceDefinition
			if c.Get(t.Context(), client.ObjectKeyFromObject(crd), &now) != nil {
				return false
			}
			for _, condition := range now.Status.Conditions {
				if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
					return true
				}
			}
			return false
		})
	}
}

func makeNamespace(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	_, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "namespace "+name+" has its service account", func() bool {
		_, err := c.CoreV1().ServiceAccounts(name).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
}

// emptyNamespace deletes all pods and waits until they are gone, so that the next measurement has the whole machine.
func (r *rig) emptyNamespace(t *testing.T, name string) {
	t.Helper()
	r.forceAway(t, name)
	eventually(t, 5*time.Minute, "namespace "+name+" is empty", func() bool { return r.pods.count(name).exist == 0 })
}

// forceAway deletes pods without a grace period, because simulated nodes that do not start pods stop them slowly. A
// timeout is not an error, because the server continues with the deletion.
func (r *rig) forceAway(t *testing.T, name string) {
	t.Helper()
	zero := int64(0)
	err := r.core.CoreV1().Pods(name).DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: &zero}, metav1.ListOptions{})
	if err != nil && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
		t.Fatal(err)
	}
}

var inBackground = client.PropagationPolicy(metav1.DeletePropagationBackground)

func inNamespace(name string) client.InNamespace { return client.InNamespace(name) }

func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s not yet: %s", within, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// vcd is the daemon as a separate process.
type vcd struct {
	process *exec.Cmd
	log     string
	listen  string // the address of its metrics and profiles
}

// buildOnce returns the path of the daemon: VC_BENCH_VCD, or a new build.
var buildOnce = sync.OnceValues(func() (string, error) {
	if binary := os.Getenv("VC_BENCH_VCD"); binary != "" {
		return binary, nil
	}
	dir, err := os.MkdirTemp("", "vc-bench-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "vcd")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/vc-batch/vc/cmd/vcd").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build of vcd: %w\n%s", err, out)
	}
	return binary, nil
})

// startVCD starts the daemon and waits until it is ready.
func (r *rig) startVCD(t *testing.T, arguments ...string) *vcd {
	t.Helper()
	return r.startVCDAt(t, 18080, arguments...)
}

// startVCDAt starts one of several daemons. It uses this port and the next one.
func (r *rig) startVCDAt(t *testing.T, port int, arguments ...string) *vcd {
	t.Helper()
	binary, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	logPath := filepath.Join(t.TempDir(), "vcd.log")
	logFile, err := os.Create(logPath)
	if err != nil {
		t.Fatal(err)
	}
	if arguments[0] != "admission" { // all replicas of admission are active
		arguments = append(arguments, "--leader-elect=false")
	}
	listen, health := fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.1:%d", port+1)
	arguments = append(arguments, "--kubeconfig", r.path, "--listen-address", listen, "--enable-pprof", "--healthz-address", health)
	v := &vcd{process: exec.Command(binary, arguments...), log: logPath, listen: listen}
	v.process.Stdout, v.process.Stderr = logFile, logFile
	v.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := v.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.stop(t) })
	deadline := time.Now().Add(time.Minute)
	for !healthy("http://" + health + "/readyz") {
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(logPath)
			t.Fatalf("vcd is not ready after a minute:\n%s", tail(string(text), 40))
		}
		time.Sleep(50 * time.Millisecond)
	}
	return v
}

func (v *vcd) stop(t *testing.T) {
	if v.process.ProcessState != nil {
		return
	}
	if err := v.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("stop of vcd: %v", err)
	}
	if err := v.process.Wait(); err != nil {
		text, _ := os.ReadFile(v.log)
		t.Errorf("vcd: %v\n%s", err, tail(string(text), 40))
	}
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
