package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/util/keyutil"
)

const (
	caLifetime      = 10 * 365 * 24 * time.Hour
	servingLifetime = 365 * 24 * time.Hour
	// clockSkew is the maximum time by which the API server's clock may be behind.
	clockSkew = 5 * time.Minute

	pemCertificate = "CERTIFICATE"
)

// certificates holds a private certificate authority and one serving certificate signed by it, all as PEM. CABundle may
// contain several authorities, because the previous one stays while replicas may still serve a certificate signed by
// it.
type certificates struct {
	CABundle []byte
	Cert     []byte
	Key      []byte
}

// issueCertificates creates an authority and a serving certificate for hosts (DNS names or addresses). The authority's
// key is not stored, because the next rotation creates another authority.
func issueCertificates(now time.Time, hosts []string) (certificates, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificates{}, fmt.Errorf("authority key: %w", err)
	}
	caTemplate, err := certificateTemplate("vc-admission-ca", now, caLifetime)
	if err != nil {
		return certificates{}, err
	}
	caTemplate.IsCA = true
	caTemplate.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	caDER, err := x509.CreateCertificate(rand.Reader, caTemplate, caTemplate, caKey.Public(), caKey)
	if err != nil {
		return certificates{}, fmt.Errorf("authority certificate: %w", err)
	}

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificates{}, fmt.Errorf("serving key: %w", err)
	}
	template, err := certificateTemplate("vc-admission", now, servingLifetime)
	if err != nil {
		return certificates{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, caTemplate, key.Public(), caKey)
	if err != nil {
		return certificates{}, fmt.Errorf("serving certificate: %w", err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return certificates{}, fmt.Errorf("serving key: %w", err)
	}
	return certificates{
		CABundle: pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: caDER}),
		Cert:     pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: der}),
		Key:      keyPEM,
	}, nil
}

func certificateTemplate(name string, now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name, Organization: []string{"vc-batch.dev"}},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(lifetime),
		BasicConstraintsValid: true,
	}, nil
}

// renewAt returns the time to replace the serving certificate: after two thirds of its lifetime. If the certificate is
// unreadable or not valid for one of the hosts, it returns the zero time, which means now.
func (c certificates) renewAt(hosts []string) time.Time {
	leaf, err := c.leafCertificate()
	if err != nil {
		return time.Time{}
	}
	for _, host := range hosts {
		if leaf.VerifyHostname(host) != nil {
			return time.Time{}
		}
	}
	return leaf.NotBefore.Add(leaf.NotAfter.Sub(leaf.NotBefore) * 2 / 3)
}

// verify checks that the API server would accept the certificate for the first of the hosts. That is the name by which the API
// server reaches the webhooks.
func (c certificates) verify(hosts []string, now time.Time) error {
	pair, err := c.keyPair()
	if err != nil {
		return err
	}
	authorities, between := x509.NewCertPool(), x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(c.CABundle) {
		return fmt.Errorf("%s contains no certificate", caBundleKey)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return err
	}
	for _, der := range pair.Certificate[1:] {
		if issuer, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(issuer)
		}
	}
	_, err = leaf.Verify(x509.VerifyOptions{DNSName: hosts[0], Roots: authorities, Intermediates: between, CurrentTime: now})
	return err
}

func (c certificates) leafCertificate() (*x509.Certificate, error) {
	pair, err := c.keyPair()
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(pair.Certificate[0])
}

func (c certificates) keyPair() (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(c.Cert, c.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("serving certificate: %w", err)
	}
	return pair, nil
}

// withPreviousCAs returns next with the valid authorities of c added to its bundle, newest first, so that replicas that
// serve the old certificate are trusted until they load the new one.
func (c certificates) withPreviousCAs(next certificates, now time.Time) certificates {
	bundle := append([]byte(nil), next.CABundle...)
	const keep = 2
	kept := 0
	for rest := c.CABundle; kept < keep; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		ca, err := x509.ParseCertificate(block.Bytes)
		if err != nil || now.After(ca.NotAfter) {
			continue
		}
		bundle = append(bundle, pem.EncodeToMemory(block)...)
		kept++
	}
	next.CABundle = bundle
	return next
}
