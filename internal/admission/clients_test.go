package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clientAuthority signs certificates of clients.
type clientAuthority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newClientAuthority(t *testing.T) *clientAuthority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &clientAuthority{cert: cert, key: key}
}

// file writes the authority's certificate to a file and returns its path.
func (a *clientAuthority) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// client returns the certificate of a client with this name.
func (a *clientAuthority) client(t *testing.T, name string) []tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: a.key}}
}

func TestOnlyTheAPIServerMaySendReviews(t *testing.T) {
	t.Parallel()
	ours, other := newClientAuthority(t), newClientAuthority(t)
	tests := map[string]struct {
		options Options
		client  []tls.Certificate
		taken   bool
	}{
		"its certificate":              {Options{ClientCAFile: ours.file(t), ClientNames: []string{"api-server"}}, ours.client(t, "api-server"), true},
		"no certificate":               {Options{ClientCAFile: ours.file(t), ClientNames: []string{"api-server"}}, nil, false},
		"another client's certificate": {Options{ClientCAFile: ours.file(t), ClientNames: []string{"api-server"}}, ours.client(t, "kubelet"), false},
		"another authority's":          {Options{ClientCAFile: ours.file(t), ClientNames: []string{"api-server"}}, other.client(t, "api-server"), false},
		"any name of the authority":    {Options{ClientCAFile: ours.file(t)}, ours.client(t, "kubelet"), true},
		"where everybody may":          {Options{}, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clients, err := newClients(&test.options)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			base := server.TLS.Clone()
			server.TLS.GetConfigForClient = clients.requireClientCert(base).GetConfigForClient
			transport := server.Client().Transport.(*http.Transport)
			transport.TLSClientConfig.Certificates = test.client
			response, err := server.Client().Get(server.URL) //nolint:noctx // a test's own server
			if err == nil {
				response.Body.Close()
			}
			if taken := err == nil; taken != test.taken {
				t.Errorf("the review is taken: %v (%v)", taken, err)
			}
		})
	}
}

func TestAuthoritiesOfClientsThatCannotBe(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, options := range map[string]Options{
		"no certificate found in":         {ClientCAFile: empty},
		"no such file":                    {ClientCAFile: empty + "/not-there"},
		"client names are specified, but": {ClientNames: []string{"api-server"}},
	} {
		if _, err := newClients(&options); err == nil || !strings.Contains(err.Error(), says) && says != "no such file" {
			t.Errorf("%s: %v", says, err)
		}
	}
}
