package admission

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hosts = []string{"volcano-admission-service.volcano-system.svc", "127.0.0.1"}
)

func TestACertificateIsTrustedForItsHostsAndItsTime(t *testing.T) {
	t.Parallel()
	certs, err := issueCertificates(epoch, hosts)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := certs.leafCertificate()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certs.CABundle)
	for name, test := range map[string]struct {
		host string
		at   time.Time
		good bool
	}{
		"its service":             {hosts[0], epoch, true},
		"its address":             {hosts[1], epoch, true},
		"a clock that is behind":  {hosts[0], epoch.Add(-time.Minute), true},
		"shortly before its end":  {hosts[0], epoch.Add(servingLifetime - time.Minute), true},
		"after its end":           {hosts[0], epoch.Add(servingLifetime + time.Minute), false},
		"the name of another one": {"other.svc", epoch, false},
	} {
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: test.host, Roots: roots, CurrentTime: test.at})
		if (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACertificateIsRenewedAfterTwoThirdsOfItsLifeAndForNewHosts(t *testing.T) {
	t.Parallel()
	certs, err := issueCertificates(epoch, hosts)
	if err != nil {
		t.Fatal(err)
	}
	due := certs.renewAt(hosts)
	if due.Before(epoch.Add(servingLifetime/2)) || due.After(epoch.Add(servingLifetime*3/4)) {
		t.Errorf("due at %s", due)
	}
	if due := certs.renewAt([]string{"elsewhere"}); !due.IsZero() {
		t.Errorf("a certificate for other hosts is due at %s, want now", due)
	}
	if due := (certificates{Cert: []byte("nonsense")}).renewAt(hosts); !due.IsZero() {
		t.Errorf("nonsense is due at %s, want now", due)
	}
}

// writeCertificate writes a certificate to a directory as the kubelet writes a mounted Secret.
func writeCertificate(t *testing.T, dir string, certs certificates) {
	t.Helper()
	for name, content := range map[string][]byte{"tls.crt": certs.Cert, "tls.key": certs.Key, "ca.crt": certs.CABundle} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAGivenCertificateIsServedAndReadAgainAfterAMinute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keeper := newCertificateKeeper(func() time.Time { return epoch }, nil, hosts)
	keeper.dir = dir
	for range 2 {
		given, err := issueCertificates(epoch, hosts[:1])
		if err != nil {
			t.Fatal(err)
		}
		writeCertificate(t, dir, given)
		next, err := keeper.refreshCertificate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if next != epoch.Add(time.Minute) {
			t.Errorf("the next read is at %s, want a minute later", next)
		}
		served, err := keeper.getCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if block, _ := pem.Decode(given.Cert); !bytes.Equal(served.Certificate[0], block.Bytes) {
			t.Error("another certificate is served")
		}
		if !bytes.Equal(keeper.caBundle(), given.CABundle) {
			t.Error("another authority is published")
		}
	}
}

func TestAGivenCertificateThatTheAPIServerWouldRejectIsAnError(t *testing.T) {
	t.Parallel()
	issue := func(now time.Time, hosts ...string) certificates {
		certs, err := issueCertificates(now, hosts)
		if err != nil {
			t.Fatal(err)
		}
		return certs
	}
	good := issue(epoch, hosts...)
	other := issue(epoch, hosts...)
	for name, test := range map[string]struct {
		given certificates
		want  string
	}{
		"an expired one":           {issue(epoch.Add(-2*servingLifetime), hosts...), "expired"},
		"one for another name":     {issue(epoch, "other.svc"), "not " + hosts[0]},
		"one of another authority": {certificates{Cert: good.Cert, Key: good.Key, CABundle: other.CABundle}, "unknown authority"},
		"one with another key":     {certificates{Cert: good.Cert, Key: other.Key, CABundle: good.CABundle}, "private key does not match"},
		"an empty authority":       {certificates{Cert: good.Cert, Key: good.Key}, "ca.crt contains no certificate"},
	} {
		dir := t.TempDir()
		writeCertificate(t, dir, test.given)
		keeper := newCertificateKeeper(func() time.Time { return epoch }, nil, hosts)
		keeper.dir = dir
		if _, err := keeper.refreshCertificate(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: want an error with %q, got %v", name, test.want, err)
		}
	}
	keeper := newCertificateKeeper(func() time.Time { return epoch }, nil, hosts)
	keeper.dir = t.TempDir()
	if _, err := keeper.refreshCertificate(t.Context()); err == nil || !strings.Contains(err.Error(), "must contain tls.crt, tls.key and ca.crt") {
		t.Errorf("an empty directory: want an error that names the files, got %v", err)
	}
}

func TestReplicasShareOneCertificateThroughTheSecret(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	secrets := client.CoreV1().Secrets("volcano-system")
	keepers := make([]*certificateKeeper, 5)
	var starting sync.WaitGroup
	for i := range keepers {
		keepers[i] = newCertificateKeeper(func() time.Time { return epoch }, secrets, hosts)
		starting.Go(func() {
			if _, err := keepers[i].refreshCertificate(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	for _, keeper := range keepers[1:] {
		if !bytes.Equal(keeper.caBundle(), keepers[0].caBundle()) {
			t.Fatal("two replicas have two authorities")
		}
	}
}

func TestAfterARenewalTheOldAuthorityIsStillTrusted(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string]ObjectClient[*corev1.Secret]{"in memory": nil, "in a Secret": fake.NewClientset().CoreV1().Secrets("volcano-system")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := epoch
			keeper := newCertificateKeeper(func() time.Time { return now }, secrets, hosts)
			due, err := keeper.refreshCertificate(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			first := keeper.caBundle()
			now = due.Add(-time.Minute)
			if _, err := keeper.refreshCertificate(context.Background()); err != nil || !bytes.Equal(first, keeper.caBundle()) {
				t.Fatalf("renewed too early: %v", err)
			}
			now = due
			if _, err := keeper.refreshCertificate(context.Background()); err != nil {
				t.Fatal(err)
			}
			second := keeper.caBundle()
			if bytes.Equal(first, second) || !bytes.HasSuffix(second, first) {
				t.Error("want a new authority and the old one after it")
			}
			for range 4 {
				now = now.Add(servingLifetime)
				if _, err := keeper.refreshCertificate(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if n := authorities(keeper.caBundle()); n != 3 {
				t.Errorf("%d authorities are trusted after some years, want 3", n)
			}
		})
	}
}

func TestASecretOfOthersIsReplacedWhenItIsOfNoUse(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: SecretName},
		Data:       map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("y")},
	})
	keeper := newCertificateKeeper(func() time.Time { return epoch }, client.CoreV1().Secrets("volcano-system"), hosts)
	if _, err := keeper.refreshCertificate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if pair, err := keeper.getCertificate(nil); err != nil || len(pair.Certificate) == 0 {
		t.Errorf("nothing is served: %v", err)
	}
}

func TestWhereTheAPIServerFindsTheWebhooks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		listen  string
		url     string
		host    string
	}{
		"at the address that is listened on": {Options{}, "127.0.0.1:4567", "https://127.0.0.1:4567", "127.0.0.1"},
		"at a URL":                           {Options{URL: "https://door.example:8443/"}, "0.0.0.0:1", "https://door.example:8443", "door.example"},
		"behind a Service":                   {Options{ServiceName: "s", ServiceNamespace: "n"}, "0.0.0.0:1", "", "s.n.svc"},
	} {
		where, hosts, err := webhookEndpoint(test.options, test.listen)
		if err != nil || where.url != test.url || hosts[0] != test.host {
			t.Errorf("%s: %+v %v %v", name, where, hosts, err)
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]Options{
		"a Service without a namespace": {ServiceName: "s"},
		"a Service and a URL":           {ServiceName: "s", ServiceNamespace: "n", URL: "https://x"},
		"a URL without https":           {URL: "http://x"},
		"a URL without a host":          {URL: "https://"},
	} {
		if _, err := options.withDefaults(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func authorities(bundle []byte) int {
	n := 0
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		n++
	}
	return n
}
