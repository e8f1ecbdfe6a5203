package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/keyutil"
)

const (
	authorityLifetime   = 20 * 365 * 24 * time.Hour
	certificateLifetime = 5 * 365 * 24 * time.Hour
	// clockSkew is how far certificates are backdated, so that clients whose clocks are slightly behind accept them.
	clockSkew = time.Hour
)

// PKI is the certificate authority of a cluster and its files. All keys are ECDSA P-256 keys, which take less than a
// millisecond to create.
type PKI struct {
	// Dir contains the PEM files; its mode is 0700.
	Dir string

	root, frontProxy authority
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// CACert returns the path of the PEM file of the authority that signs server and client certificates.
func (p *PKI) CACert() string { return p.pathOfFile("ca.crt") }

// KubeletClientCert returns the path of the certificate that the API server presents to nodes when it requests logs
// or runs exec.
func (p *PKI) KubeletClientCert() string { return p.pathOfFile("apiserver-kubelet-client.crt") }

// KubeletClientKey returns the path of the key of KubeletClientCert.
func (p *PKI) KubeletClientKey() string { return p.pathOfFile("apiserver-kubelet-client.key") }

// NewServingCert creates a server certificate for the given host names and IP addresses, and its key. Both are PEM.
func (p *PKI) NewServingCert(name string, hosts ...string) (certPEM, keyPEM []byte, err error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return p.root.issueCertificate(template)
}

// NewClientCert creates a client certificate for the given user and groups, and its key. Both are PEM.
func (p *PKI) NewClientCert(user string, groups ...string) (certPEM, keyPEM []byte, err error) {
	return p.root.issueCertificate(clientTemplate(user, groups...))
}

func clientTemplate(user string, groups ...string) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

func (p *PKI) pathOfFile(name string) string { return filepath.Join(p.Dir, name) }

// loadPKI opens or creates the authority in dir and writes the files for the API server. extraHosts are additional
// names for the API server's certificate.
func loadPKI(dir string, extraHosts []string) (*PKI, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &PKI{Dir: dir}
	var err error
	if p.root, err = loadAuthority(p.pathOfFile("ca"), "vc-local"); err != nil {
		return nil, err
	}
	if p.frontProxy, err = loadAuthority(p.pathOfFile("front-proxy-ca"), "vc-local-front-proxy"); err != nil {
		return nil, err
	}
	if _, _, err := keyutil.LoadOrGenerateKeyFile(p.pathOfFile("service-account.key")); err != nil {
		return nil, err
	}
	hosts := append([]string{
		"127.0.0.1", "localhost", serviceNetworkFirstIP,
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}, extraHosts...)
	serving := func() ([]byte, []byte, error) { return p.NewServingCert("kube-apiserver", hosts...) }
	kubelet := func() ([]byte, []byte, error) { return p.NewClientCert("kube-apiserver-kubelet-client", mastersGroup) }
	webhooks := func() ([]byte, []byte, error) { return p.NewClientCert(WebhookClient) }
	proxy := func() ([]byte, []byte, error) { return p.frontProxy.issueCertificate(clientTemplate(frontProxyUser)) }
	return p, errors.Join(
		p.writePair("apiserver", serving),
		p.writePair("apiserver-kubelet-client", kubelet),
		p.writePair("front-proxy-client", proxy),
		p.writePair("webhook-client", webhooks),
		writeAdmission(p),
	)
}

func (p *PKI) writePair(name string, issue func() (certPEM, keyPEM []byte, err error)) error {
	certPEM, keyPEM, err := issue()
	if err != nil {
		return fmt.Errorf("certificate %q: %w", name, err)
	}
	return errors.Join(
		os.WriteFile(p.pathOfFile(name+".crt"), certPEM, 0o600),
		os.WriteFile(p.pathOfFile(name+".key"), keyPEM, 0o600),
	)
}

// issueCertificate completes a template with a serial number, dates and a new key, and signs it.
func (a authority) issueCertificate(template *x509.Certificate) (certPEM, keyPEM []byte, err error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	template.NotBefore = time.Now().Add(-clockSkew)
	template.NotAfter = time.Now().Add(certificateLifetime)
	template.BasicConstraintsValid = true
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM, nil
}

// loadAuthority reads base.crt and base.key, or creates them if they do not exist.
func loadAuthority(base, name string) (authority, error) {
	if _, err := os.Stat(base + ".crt"); errors.Is(err, fs.ErrNotExist) {
		return newAuthority(base, name)
	}
	pair, err := tls.LoadX509KeyPair(base+".crt", base+".key")
	if err != nil {
		return authority{}, fmt.Errorf("certificate authority %s.crt or its key file is damaged: %w", base, err)
	}
	return authority{cert: pair.Leaf, key: pair.PrivateKey.(crypto.Signer)}, nil
}

// newAuthority creates and saves a self-signed authority. It writes the key before the certificate, so that the next
// start creates both again if the process is killed in between.
func newAuthority(base, name string) (authority, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return authority{}, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-clockSkew),
		NotAfter:              time.Now().Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return authority{}, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := errors.Join(os.WriteFile(base+".key", keyPEM, 0o600), os.WriteFile(base+".crt", certPEM, 0o600)); err != nil {
		return authority{}, err
	}
	return authority{cert: cert, key: key}, nil
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	return key, keyPEM, err
}
