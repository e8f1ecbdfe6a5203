package install

import (
	"bufio"
	"context"
	"errors"
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

	"github.com/go-logr/logr/funcr"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubediscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/local/simnode"
)

// beControlPlane makes this test binary run a control plane in the directory that is its value, with the command line
// as additional flags of kube-apiserver. An emulated version applies to a whole process, so each version needs its own.
const beControlPlane = "VC_INSTALL_BE_CONTROL_PLANE"

// runControlPlaneIfAsked runs a control plane until standard input ends if beControlPlane is set.
func runControlPlaneIfAsked() {
	dir := os.Getenv(beControlPlane)
	if dir == "" {
		return
	}
	plane, err := controlplane.Start(context.Background(), controlplane.Options{Dir: dir, Ephemeral: true, APIServerFlags: os.Args[1:]})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(plane.KubeconfigPath())
	_, _ = io.Copy(io.Discard, os.Stdin)
	plane.Stop()
	os.Exit(0)
}

// startControlPlane runs a control plane in its own process until the test ends, and returns the administrator's
// configuration.
func startControlPlane(t *testing.T, flags ...string) *rest.Config {
	t.Helper()
	path := startCluster(t, flags...)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return config
}

// startCluster is like startControlPlane. It returns the path of the administrator's kubeconfig.
func startCluster(t *testing.T, flags ...string) string {
	t.Helper()
	process := exec.Command(os.Args[0], flags...)
	process.Env = append(os.Environ(), beControlPlane+"="+filepath.Join(t.TempDir(), "cluster"))
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe()
	must(t, err)
	stdout, err := process.StdoutPipe()
	must(t, err)
	must(t, process.Start())
	t.Cleanup(func() {
		if err := errors.Join(stdin.Close(), process.Wait()); err != nil {
			t.Errorf("the control plane did not stop: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the control plane did not start: %v", err)
	}
	return strings.TrimSpace(line)
}

// deviceKinds are the kinds of Kubernetes that the scheduler does not need.
var deviceKinds = []string{"ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule"}

// TestAGangRunsOnEverySupportedVersion installs vc and runs a gang on API servers that emulate older versions. These do
// not serve DeviceTaintRules, which the scheduler must report once.
func TestAGangRunsOnEverySupportedVersion(t *testing.T) {
	rules := []string{"DeviceTaintRule"}
	cases := map[string]struct {
		flags   []string
		minor   string
		missing []string // the optional kinds of Kubernetes that the API server does not serve
	}{
		"1.34": {flags: []string{"--emulated-version=1.34"}, minor: "34", missing: rules},
		"1.35": {flags: []string{"--emulated-version=1.35"}, minor: "35", missing: rules},
		"1.36": {flags: []string{"--emulated-version=1.36"}, minor: "36", missing: rules},
		"1.37": {minor: "37"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := startControlPlane(t, c.flags...)
			requireServer(t, config, c.minor, c.missing)
			must(t, apply(t.Context(), config, deploy.InstallYAML))
			log := runGang(t, config)
			for _, kind := range deviceKinds {
				want := 0
				if slices.Contains(c.missing, kind) {
					want = 1
				}
				if n := log.count("does not serve this kind", `"kind"="`+kind+`"`); n != want {
					t.Errorf("the log reports %d times that %s is not served, want %d", n, kind, want)
				}
			}
		})
	}
}

// requireServer fails if the API server emulates another version, or serves one of the missing kinds.
func requireServer(t *testing.T, config *rest.Config, minor string, missing []string) {
	t.Helper()
	client := kubediscovery.NewDiscoveryClientForConfigOrDie(config)
	version, err := client.ServerVersion()
	must(t, err)
	emulated := version.Minor
	if version.EmulationMinor != "" {
		emulated = version.EmulationMinor
	}
	if emulated != minor {
		t.Errorf("the API server emulates minor version %s, want %s: %+v", emulated, minor, version)
	}
	served, err := client.ServerResourcesForGroupVersion(resourcev1.SchemeGroupVersion.String())
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	for _, kind := range deviceKinds {
		isServed := err == nil && slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind })
		if isServed == slices.Contains(missing, kind) {
			t.Errorf("%s is served: %t", kind, isServed)
		}
	}
}

// runGang runs all components with their own accounts and a job that needs all three nodes at the same time. It returns
// the log of the components.
func runGang(t *testing.T, config *rest.Config) *lines {
	t.Helper()
	log := &lines{}
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), funcr.New(log.add, funcr.Options{})))
	var running sync.WaitGroup
	defer func() { cancel(); running.Wait() }()
	refused := &forbidden{}
	for _, component := range daemon.ComponentNames() {
		done := startOn(t, ctx, config, refused, component, admission.Options{ListenAddress: "127.0.0.1:0"})
		running.Go(func() { <-done })
	}
	fleet, err := simnode.New(simnode.Config{RESTConfig: config, Count: 3})
	must(t, err)
	running.Go(func() {
		if err := fleet.Run(ctx); err != nil {
			t.Errorf("nodes: %v", err)
		}
	})
	c, err := newClient(config)
	must(t, err)
	defer func() {
		if t.Failed() {
			describe(t, c)
		}
	}()
	job := newJob("gang", func(j *batchv1alpha1.Job) {
		j.Spec.Plugins = map[string][]string{"svc": {}, "ssh": {}, "env": {}}
		j.Spec.MinAvailable = 3
		j.Spec.Tasks[0].Replicas = 3
		j.Spec.Tasks[0].Template.Annotations = map[string]string{simnode.AnnotationRunTime: "1s"}
		j.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests = quantities("5")
	})
	must(t, c.Create(t.Context(), job))
	phase(t, c, job, batchv1alpha1.Completed)
	for _, request := range refused.all() {
		t.Errorf("forbidden: %s", request)
	}
	return log
}

// lines collects the lines of a log.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(_, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

// count returns the number of lines that contain all texts.
func (l *lines) count(texts ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		contains := true
		for _, text := range texts {
			contains = contains && strings.Contains(line, text)
		}
		if contains {
			n++
		}
	}
	return n
}
