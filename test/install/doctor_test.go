package install

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/cli/doctor"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/local/simnode"
)

// patient is an installation that the tests of vcctl doctor damage.
type patient struct {
	kubeconfig string
	config     *rest.Config
	c          client.Client
	// stop ends a component.
	stop map[string]func()
}

// newPatient installs vc in a cluster of its own, and runs all components with their accounts and one simulated node.
func newPatient(t *testing.T) *patient {
	t.Helper()
	p := &patient{kubeconfig: startCluster(t), stop: map[string]func(){}}
	var err error
	p.config, err = clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	must(t, err)
	must(t, apply(t.Context(), p.config, deploy.InstallYAML))
	p.c, err = newClient(p.config)
	must(t, err)
	must(t, apiextensionsv1.AddToScheme(p.c.Scheme()))
	for _, name := range daemon.ComponentNames() {
		ctx, cancel := context.WithCancel(context.Background())
		done := startOn(t, ctx, p.config, &forbidden{}, name, admission.Options{ListenAddress: "127.0.0.1:0"})
		p.stop[name] = sync.OnceFunc(func() { cancel(); <-done })
		t.Cleanup(p.stop[name])
	}
	fleet, err := simnode.New(simnode.Config{RESTConfig: p.config, Count: 1})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- fleet.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("nodes: %v", err)
		}
	})
	return p
}

// examine runs vcctl doctor and returns its report.
func (p *patient) examine(t *testing.T, args ...string) (doctor.Report, int) {
	t.Helper()
	got := vcctl(t.Context(), t, p.kubeconfig, append([]string{"doctor", "-o", "json"}, args...)...)
	var report doctor.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v:\n%s%s", err, got.out, got.err)
	}
	return report, got.code
}

// requireFinding fails unless the report has a finding of a check with a result and a text, and with advice.
func requireFinding(t *testing.T, report doctor.Report, check string, result doctor.Result, text string) {
	t.Helper()
	var all []string
	for _, f := range report.Findings {
		needsAdvice := f.Result == doctor.Failed || f.Result == doctor.Warning
		if f.Check == check && f.Result == result && strings.Contains(f.Found, text) && (f.Remedy != "") == needsAdvice {
			return
		}
		all = append(all, fmt.Sprintf("%s %s: %s (%s)", f.Check, f.Result, f.Found, f.Remedy))
	}
	t.Errorf("no finding %s %s %q in:\n%s", check, result, text, strings.Join(all, "\n"))
}

// requireNoJobs fails if a probe job was left behind.
func (p *patient) requireNoJobs(t *testing.T) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		var jobs batchv1alpha1.JobList
		if err := p.c.List(ctx, &jobs); err != nil {
			return err
		}
		if n := len(jobs.Items); n > 0 {
			return fmt.Errorf("%d jobs were left behind: %s", n, jobs.Items[0].Name)
		}
		return nil
	})
}

// TestDoctorFindsWhatIsBroken examines a healthy installation, and then breaks one part after the other.
func TestDoctorFindsWhatIsBroken(t *testing.T) {
	p := newPatient(t)
	t.Run("a healthy installation", func(t *testing.T) {
		report, code := p.examine(t)
		for _, f := range report.Findings {
			if f.Result != doctor.OK {
				t.Errorf("%s %s: %s", f.Check, f.Result, f.Found)
			}
		}
		if code != 0 || !report.Healthy {
			t.Errorf("exit code %d, healthy %t", code, report.Healthy)
		}
		requireFinding(t, report, "probe", doctor.OK, "a job with one pod started on node ")
		p.requireNoJobs(t)
	})
	t.Run("a person without rights", func(t *testing.T) {
		report, code := p.examine(t, "--as", "mei")
		if code != 0 {
			t.Errorf("exit code %d", code)
		}
		requireFinding(t, report, "leases", doctor.Skipped, "you may not read Lease vc-scheduler in namespace volcano-system")
		requireFinding(t, report, "probe", doctor.Skipped, "you may not create jobs in namespace default")
		requireFinding(t, report, "access", doctor.Warning, "you may not create jobs.batch.volcano.sh")
	})
	t.Run("a wrong configuration", func(t *testing.T) {
		must(t, p.c.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: deploy.SchedulerConfigMap},
			Data:       map[string]string{deploy.SchedulerConfigKey: "# ours\nactions: \"enqueue, alocate\"\n"},
		}))
		report, code := p.examine(t, "--no-probe")
		if code != 1 {
			t.Errorf("exit code %d", code)
		}
		requireFinding(t, report, "configuration", doctor.Failed, "line 2: ")
	})
	t.Run("a service account without a right", func(t *testing.T) {
		p.change(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: deploy.SchedulerAccount}}, `{"rules":[]}`)
		report, _ := p.examine(t, "--no-probe")
		requireFinding(t, report, "access", doctor.Failed, "ClusterRole vc-scheduler does not permit ")
	})
	t.Run("a policy that is gone", func(t *testing.T) {
		must(t, p.c.Delete(t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "volcano-command-policy"}}))
		report, _ := p.examine(t, "--no-probe")
		requireFinding(t, report, "webhooks", doctor.Failed, "ValidatingAdmissionPolicy volcano-command-policy")
	})
	t.Run("no scheduler", func(t *testing.T) {
		p.stop[daemon.Scheduler]()
		report, code := p.examine(t, "--timeout", "2s")
		if code != 1 {
			t.Errorf("exit code %d", code)
		}
		requireFinding(t, report, "leases", doctor.Failed, "lease vc-scheduler in namespace volcano-system has no holder")
		requireFinding(t, report, "probe", doctor.Failed, "within 2")
		p.requireNoJobs(t)
	})
	t.Run("an interrupted probe", func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			defer interrupt()
			eventually(t, func(ctx context.Context) error {
				var jobs batchv1alpha1.JobList
				if err := p.c.List(ctx, &jobs); err != nil || len(jobs.Items) == 0 {
					return fmt.Errorf("no job yet: %w", err)
				}
				return nil
			})
		}()
		if got := vcctl(ctx, t, p.kubeconfig, "doctor"); got.code != 130 {
			t.Errorf("exit code %d: %s", got.code, got.err)
		}
		p.requireNoJobs(t)
	})
	t.Run("webhooks that are not running", func(t *testing.T) {
		p.stop[daemon.Admission]()
		must(t, p.c.Delete(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "volcano-admission-service-queues-validate"}}))
		report, _ := p.examine(t, "--no-probe")
		requireFinding(t, report, "webhooks", doctor.Failed, "ValidatingWebhookConfiguration volcano-admission-service-queues-validate")
		requireFinding(t, report, "webhooks", doctor.Failed, "the API server cannot call the webhook for jobs: ")
	})
	t.Run("an expired certificate", func(t *testing.T) {
		must(t, p.c.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: admission.SecretName},
			Data:       map[string][]byte{corev1.TLSCertKey: expiredCertificate(t)},
		}))
		report, _ := p.examine(t, "--no-probe")
		requireFinding(t, report, "certificates", doctor.Failed, "expired at 2020-01-02T00:00:00Z")
		requireFinding(t, report, "certificates", doctor.Failed, "does not match")
	})
	t.Run("a closed queue", func(t *testing.T) {
		p.stop[daemon.Controllers]()
		queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		must(t, p.c.Status().Patch(t.Context(), queue, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"state":"Closed"}}`))))
		report, _ := p.examine(t, "--no-probe")
		requireFinding(t, report, "queues", doctor.Failed, "queue default is in state Closed")
		requireFinding(t, report, "leases", doctor.Failed, "lease vc-controller-manager in namespace volcano-system has no holder")
	})
	t.Run("a CRD that is gone", func(t *testing.T) {
		must(t, p.c.Delete(t.Context(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "numatopologies.nodeinfo.volcano.sh"}}))
		eventually(t, func(context.Context) error {
			report, _ := p.examine(t, "--no-probe")
			for _, f := range report.Findings {
				if f.Check == "crds" && f.Result == doctor.Failed && strings.Contains(f.Found, "numatopologies.nodeinfo.volcano.sh does not exist") {
					return nil
				}
			}
			return fmt.Errorf("no finding about the CRD")
		})
	})
}

// change applies a merge patch to an object.
func (p *patient) change(t *testing.T, object client.Object, patch string) {
	t.Helper()
	must(t, p.c.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// expiredCertificate returns a certificate, as PEM, that was valid for one day in 2020.
func expiredCertificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	begin := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "old"}, NotBefore: begin, NotAfter: begin.Add(24 * time.Hour), DNSNames: []string{"old"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
