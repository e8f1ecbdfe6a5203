package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/deploy"
)

// authority is a certificate authority for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// issue creates a certificate that is valid from one day before now until end. The authority signs itself if it is new.
func (a *authority) issue(t *testing.T, end time.Time, hosts ...string) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: now.Add(-24 * time.Hour), NotAfter: end, DNSNames: hosts,
		IsCA: len(hosts) == 0, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	parent := template
	if a.certificate != nil {
		parent = a.certificate
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func newAuthority(t *testing.T, end time.Time) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key}
	a.certificate = a.issue(t, end)
	return a
}

func TestTheSecretOfTheWebhooksIsTheOneThatTheyMount(t *testing.T) {
	t.Parallel()
	pod := corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
			{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "webhook-tls"}}},
		},
		Containers: []corev1.Container{{
			Args:         []string{"admission", "--webhook-certificate-dir=/tls"},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/config"}, {Name: "tls", MountPath: "/tls"}},
		}},
	}
	own := *pod.DeepCopy()
	own.Containers[0].Args = []string{"admission"}
	for name, test := range map[string]struct {
		pod  *corev1.PodSpec
		want string
	}{"no Deployment": {nil, "volcano-admission-certificate"}, "its own certificate": {&own, "volcano-admission-certificate"}, "another certificate": {&pod, "webhook-tls"}} {
		r := &reader{deployments: map[string]*appsv1.Deployment{}}
		if test.pod != nil {
			r.deployments[deploy.AdmissionAccount] = &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: *test.pod}}}
		}
		if got := r.webhookSecret(); got != test.want {
			t.Errorf("%s: Secret %s, want %s", name, got, test.want)
		}
	}
}

func TestCertificatesMustBeValidAndMatch(t *testing.T) {
	t.Parallel()
	year := now.AddDate(1, 0, 0)
	ca, other, old := newAuthority(t, year), newAuthority(t, year), newAuthority(t, now.Add(-time.Hour))
	good := ca.issue(t, year, "a.svc")
	bundles := func(pem []byte) []bundle { return []bundle{{"A", "a.svc", pem}, {"B", "a.svc", pem}} }
	for name, test := range map[string]struct {
		facts certificateFacts
		want  []expectation
	}{
		"valid":              {certificateFacts{bundles: bundles(ca.pem()), serving: []*x509.Certificate{good}}, []expectation{{OK, "valid until 2027-03-01T12:00:00Z"}}},
		"two authorities":    {certificateFacts{bundles: bundles(append(old.pem(), ca.pem()...)), serving: []*x509.Certificate{good}}, []expectation{{OK, ""}}},
		"another authority":  {certificateFacts{bundles: bundles(other.pem()), serving: []*x509.Certificate{good}}, []expectation{{Failed, "A and 1 other webhooks: the certificate in"}}},
		"another host":       {certificateFacts{bundles: bundles(ca.pem()), serving: []*x509.Certificate{ca.issue(t, year, "b.svc")}}, []expectation{{Failed, "does not match"}}},
		"an expired one":     {certificateFacts{bundles: bundles(ca.pem()), serving: []*x509.Certificate{ca.issue(t, now.Add(-time.Hour), "a.svc")}}, []expectation{{Failed, "expired at 2026-03-01T11:00:00Z"}}},
		"an ending one":      {certificateFacts{bundles: bundles(ca.pem()), serving: []*x509.Certificate{ca.issue(t, now.Add(time.Hour), "a.svc")}}, []expectation{{Warning, "expires at"}}},
		"expired authority":  {certificateFacts{bundles: bundles(old.pem())}, []expectation{{Failed, "the authority (caBundle) expired"}}},
		"no authority":       {certificateFacts{bundles: bundles(nil)}, []expectation{{Failed, "no authority (caBundle) is set"}}},
		"an unreadable one":  {certificateFacts{bundles: bundles([]byte("x"))}, []expectation{{Failed, "the authority (caBundle) is invalid"}}},
		"no webhooks":        {certificateFacts{}, []expectation{{Failed, "no webhook configuration contains a webhook"}}},
		"no serving one":     {certificateFacts{bundles: bundles(ca.pem()), servingErr: &Finding{Result: Skipped, Found: "you may not"}}, []expectation{{OK, "authorities"}, {Skipped, "you may not"}}},
		"a clock far behind": {certificateFacts{now: now.Add(-48 * time.Hour), bundles: bundles(ca.pem()), serving: []*x509.Certificate{good}}, []expectation{{Failed, "valid only from"}}},
	} {
		if test.facts.now.IsZero() {
			test.facts.now = now
		}
		test.facts.source = "Secret s"
		test.facts.server = certifiedWebhooks
		requireOnly(t, name, decideCertificates(&test.facts), test.want...)
	}
}
