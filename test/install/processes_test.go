package install

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/vc-batch/vc/cmd/vcd/app"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/daemon"
)

// beVcd makes this test binary run as vcd. The memory of a component can be measured only in its own process.
const beVcd = "VC_INSTALL_BE_VCD"

// runVcdIfAsked runs vcd with the arguments of the command line if beVcd is set.
func runVcdIfAsked() {
	if os.Getenv(beVcd) != "" {
		app.Main()
		os.Exit(0)
	}
}

// component is a component of vcd as a process, with the account, the memory limit and the environment in install.yaml.
type component struct {
	name    string
	limit   resource.Quantity
	process *exec.Cmd
	log     string
}

var accounts = map[string]string{daemon.Scheduler: deploy.SchedulerAccount, daemon.Controllers: deploy.ControllersAccount, daemon.Admission: deploy.AdmissionAccount}

// startProcess starts a component and returns when it is ready.
func startProcess(t *testing.T, name string, arguments ...string) *component {
	t.Helper()
	dir := t.TempDir()
	deployment := deploymentOf(t, accounts[name])
	main := deployment.Spec.Template.Spec.Containers[0]
	c := &component{name: name, limit: *main.Resources.Limits.Memory(), log: filepath.Join(dir, "log")}
	health := freeAddress(t)
	arguments = append([]string{name, "--kubeconfig", kubeconfigOf(t, accounts[name], dir), "--enable-metrics=false", "--healthz-address", health}, arguments...)
	c.process = exec.Command(os.Args[0], arguments...)
	c.process.Env = append(os.Environ(), beVcd+"=1")
	for _, e := range main.Env {
		if e.Value != "" {
			c.process.Env = append(c.process.Env, e.Name+"="+e.Value)
		}
	}
	log, err := os.Create(c.log)
	must(t, err)
	defer log.Close()
	c.process.Stdout, c.process.Stderr = log, log
	c.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, c.process.Start())
	eventually(t, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s is not ready: %s", name, response.Status)
		}
		return nil
	})
	return c
}

// deploymentOf returns the Deployment in install.yaml that uses an account.
func deploymentOf(t *testing.T, account string) *appsv1.Deployment {
	t.Helper()
	objects, err := decode(deploy.InstallYAML)
	must(t, err)
	for _, o := range objects {
		d := &appsv1.Deployment{}
		if o.GetKind() != "Deployment" {
			continue
		}
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d))
		if d.Spec.Template.Spec.ServiceAccountName == account {
			return d
		}
	}
	t.Fatalf("install.yaml has no Deployment with account %s", account)
	return nil
}

// kubeconfigOf writes a kubeconfig with a token of an account.
func kubeconfigOf(t *testing.T, account, dir string) string {
	t.Helper()
	config := as(t, account, &forbidden{})
	out := clientcmdapi.NewConfig()
	out.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: plane.PKI().CACert()}
	out.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	out.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	out.CurrentContext = "x"
	file := filepath.Join(dir, "kubeconfig")
	must(t, clientcmd.WriteToFile(*out, file))
	return file
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// peak returns the peak memory of the process, in bytes, without the pages of the program file. The kernel drops those
// before it kills a process that exceeds its limit.
func (c *component) peak(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.Process.Pid))
	must(t, err)
	sizes := map[string]int64{}
	for line := range strings.Lines(string(data)) {
		name, text, _ := strings.Cut(line, ":")
		if words := strings.Fields(text); len(words) == 2 && words[1] == "kB" {
			kib, err := strconv.ParseInt(words[0], 10, 64)
			must(t, err)
			sizes[name] = kib << 10
		}
	}
	if sizes["VmHWM"] == 0 || sizes["RssFile"] == 0 {
		t.Fatalf("%s: its status has no VmHWM or RssFile:\n%s", c.name, data)
	}
	return sizes["VmHWM"] - sizes["RssFile"]
}

// requireWithinLimit fails if the component has exited or has used more memory than its limit.
func (c *component) requireWithinLimit(t *testing.T) {
	t.Helper()
	peak, limit := c.peak(t), c.limit.Value()
	t.Logf("%s needed %d MiB of %d", c.name, peak>>20, limit>>20)
	if peak > limit {
		t.Errorf("%s needed %d MiB, its limit is %d", c.name, peak>>20, limit>>20)
	}
}

// stop stops the component as Kubernetes does, so that it releases its lease.
func (c *component) stop(t *testing.T) {
	t.Helper()
	if t.Failed() {
		text, _ := os.ReadFile(c.log)
		t.Logf("log of %s:\n%s", c.name, text[max(0, len(text)-4000):])
	}
	_ = c.process.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(30*time.Second, func() { _ = c.process.Process.Kill() })
	defer kill.Stop()
	if err := c.process.Wait(); err != nil {
		t.Errorf("%s ended: %v", c.name, err)
	}
}
