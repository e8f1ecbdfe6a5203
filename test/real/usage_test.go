package real

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/deploy"
)

const (
	// busyTicks is the CPU time that the container uses, in hundredths of a second.
	busyTicks = 6000
	// busyMiB is the memory that it uses, besides that of its shell.
	busyMiB = 48
	// accountingPort is the port of vc-accounting beside the API server.
	accountingPort = 9443
)

// busyScript keeps memory in use, and then uses CPU time. It reports the CPU time of its process, and waits until the kubelet
// has measured all of it: otherwise the use of the last seconds would be an estimate, which depends on how busy the machine is.
var busyScript = fmt.Sprintf(`
	head -c %d /dev/zero >/dev/shm/memory
	while :; do
		n=0
		while [ $n -lt 20000 ]; do n=$((n+1)); done
		read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user system _ </proc/self/stat
		[ $((user + system)) -ge %d ] && break
	done
	echo $((user + system)) >/dev/termination-log
	sleep 45`, busyMiB<<20, busyTicks)

// TestTheUseOfPodsOnKubeletsIsMeasured compares what seff, sacct and sstat show for a job with what its container measured
// itself. The recorder has only the rights of its service account.
func TestTheUseOfPodsOnKubeletsIsMeasured(t *testing.T) {
	c := installVC(t)
	startAccounting(t, c)
	namespace := newNamespace(t, "usage")
	busy := corev1.Container{Name: "main", Image: busyboxImage, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sh", "-c", busyScript}}
	job := newJob(namespace, "busy", 1, corev1.PodSpec{Containers: []corev1.Container{busy}})
	createJob(t, c, job)
	running := regexp.MustCompile(`^\S+\.batch\|(\d\d):(\d\d\.\d{3})\|([0-9.]+)([KM])\|node-\d\n$`)
	eventually(t, "sstat shows the use of the running job", func(ctx context.Context) error {
		text, err := vcctl(ctx, "-n", namespace, "slurm", "sstat", "-n", "-P", "-o", "jobid,avecpu,maxrss,maxrssnode", "-j", "busy")
		if err != nil {
			return err
		}
		if found := running.FindStringSubmatch(text); found == nil || found[1]+found[2] == "0000.000" || !isBusyMemory(found[3], found[4]) {
			return fmt.Errorf("sstat prints %q", text)
		}
		return nil
	})
	waitForCompletion(t, c, job)
	used := reportedSeconds(t, namespace)
	// The final use is written within seconds.
	eventually(t, "seff and sacct show what the job used", func(ctx context.Context) error { return checkUse(ctx, t, namespace, used) })
	if err := c.Delete(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job is gone", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it still exists: %w", err)
		}
		return nil
	})
	eventually(t, "seff and sacct show what the deleted job used", func(ctx context.Context) error { return checkUse(ctx, t, namespace, used) })
}

// waitForCompletion waits until a job is completed. Other programs may need the processors, too, so this can take long.
func waitForCompletion(t *testing.T, c client.Client, job *batchv1alpha1.Job) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), poll, 15*time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return false, err
		}
		return job.Status.State.Phase == batchv1alpha1.Completed, nil
	})
	if err != nil {
		t.Fatalf("the job is not completed: its phase is %q (%s): %v", job.Status.State.Phase, job.Status.State.Message, err)
	}
}

// isBusyMemory reports whether an amount of memory is that of the container, up to the tolerance of 15 percent.
func isBusyMemory(amount, unit string) bool {
	mebibytes, err := strconv.ParseFloat(amount, 64)
	if unit == "K" {
		mebibytes /= 1024
	}
	return err == nil && mebibytes >= busyMiB && mebibytes < 1.15*busyMiB
}

// reportedSeconds returns the CPU time in the termination message of the job's container.
func reportedSeconds(t *testing.T, namespace string) float64 {
	t.Helper()
	pod, err := shared.client.CoreV1().Pods(namespace).Get(t.Context(), "busy-main-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pod.Status.ContainerStatuses {
		if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil {
			ticks, err := strconv.Atoi(strings.TrimSpace(ended.Message))
			if err != nil {
				t.Fatalf("the container reports %q", ended.Message)
			}
			return float64(ticks) / 100
		}
	}
	t.Fatalf("the container has not ended: %+v", pod.Status)
	return 0
}

var (
	utilized = regexp.MustCompile(`CPU Utilized: (\d\d):(\d\d):(\d\d)\n`)
	memory   = regexp.MustCompile(`Memory Utilized: ([0-9.]+) MB\n`)
	total    = regexp.MustCompile(`^(\d\d):(\d\d\.\d{3})\n$`)
)

// checkUse returns an error if seff or sacct differs from the CPU time by more than 5 percent, or from the memory
// by more than 15 percent.
func checkUse(ctx context.Context, t *testing.T, namespace string, used float64) error {
	text, err := vcctl(ctx, "-n", namespace, "slurm", "seff", "busy")
	if err != nil {
		return err
	}
	cpu, peak := utilized.FindStringSubmatch(text), memory.FindStringSubmatch(text)
	if cpu == nil || peak == nil {
		return fmt.Errorf("seff prints\n%s", text)
	}
	if !isBusyMemory(peak[1], "M") {
		return fmt.Errorf("the memory is not about %d MiB:\n%s", busyMiB, text)
	}
	listed, err := vcctl(ctx, "-n", namespace, "slurm", "sacct", "-X", "-n", "-P", "-o", "totalcpu", "-j", "busy")
	if err != nil {
		return err
	}
	inList := total.FindStringSubmatch(listed)
	if inList == nil {
		return fmt.Errorf("sacct prints %q", listed)
	}
	for _, parts := range [][]string{cpu[1:], append([]string{"0"}, inList[1:]...)} {
		seconds := 0.0
		for _, part := range parts {
			n, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return err
			}
			seconds = seconds*60 + n
		}
		if math.Abs(seconds-used) > used/20 {
			return fmt.Errorf("%.1f s of CPU time differ by more than 5 percent from %.1f s:\n%s\n%s", seconds, used, text, listed)
		}
		t.Logf("%.1f s of CPU time, the container itself measured %.1f s", seconds, used)
	}
	return nil
}

// startAccounting starts vc-accounting beside the API server, until the end of the test. It has the identity and the rights
// of its service account.
func startAccounting(t *testing.T, c client.Client) {
	t.Helper()
	for _, object := range append(deploy.AccountingRBAC(), accountingService()...) {
		if err := c.Create(t.Context(), object.(client.Object)); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(accountingConfig(t), kubeconfig); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(shared.dir, "vc-accounting.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	recorder := exec.Command(filepath.Join(os.Getenv(binVariable), "vcd"), "accounting", "--kubeconfig="+kubeconfig, "--accounting-store=sqlite:"+filepath.Join(dir, "records"),
		fmt.Sprintf("--accounting-address=%s:%d", gateway, accountingPort),
		"--accounting-service="+deploy.Namespace+"/"+deploy.AccountingWorkload, "--accounting-owner="+deploy.AccountingAccount, "--accounting-measure-interval=5s", "--enable-metrics=false", "--enable-healthz=false", "--v=1")
	recorder.Stdout, recorder.Stderr = log, log
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = recorder.Process.Signal(syscall.SIGTERM)
		_ = recorder.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("log of vc-accounting:\n%s", text)
		}
	})
	eventually(t, "the recorder answers", func(ctx context.Context) error {
		_, err := vcctl(ctx, "history", "--all-users", "-A")
		return err
	})
}

// accountingService returns the Service of a process beside the API server, with its address.
func accountingService() []runtime.Object {
	meta := metav1.ObjectMeta{Name: deploy.AccountingWorkload, Namespace: deploy.Namespace}
	slice := meta
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
	const portName = "https"
	return []runtime.Object{
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: portName, Port: 443}}}},
		&discoveryv1.EndpointSlice{
			ObjectMeta: slice, AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{gateway}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
			Ports:     []discoveryv1.EndpointPort{{Name: new(portName), Port: new(int32(accountingPort)), Protocol: new(corev1.ProtocolTCP)}},
		},
	}
}

// accountingConfig returns a kubeconfig with a token of the service account.
func accountingConfig(t *testing.T) clientcmdapi.Config {
	t.Helper()
	seconds := int64(time.Hour / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := shared.client.CoreV1().ServiceAccounts(deploy.Namespace).CreateToken(t.Context(), deploy.AccountingAccount, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(shared.plane.PKI().CACert())
	if err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: shared.plane.APIServerURL(), CertificateAuthorityData: authority}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: answer.Status.Token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	return *config
}
