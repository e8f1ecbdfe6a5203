package admission

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
)

// clients checks which clients may send reviews. A client needs a certificate from a given authority and, optionally,
// one of the given names. Without an authority, any client may send reviews.
type clients struct {
	path  string   // path of the file with the authorities; "" for no check
	names []string // accepted common names; empty accepts all
	pool  atomic.Pointer[x509.CertPool]
}

// newClients reads the authorities at startup. The file must exist and be valid.
func newClients(options *Options) (*clients, error) {
	c := &clients{path: options.ClientCAFile, names: options.ClientNames}
	if c.path == "" {
		if len(c.names) > 0 {
			return nil, errors.New("admission: client names are specified, but the certificate authority that signs the client certificates is missing")
		}
		return c, nil
	}
	return c, c.readAuthorities()
}

// readAuthorities loads the authorities from their file.
func (c *clients) readAuthorities() error {
	text, err := os.ReadFile(c.path)
	if err != nil {
		return fmt.Errorf("admission: client certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("admission: client certificate authority: no certificate found in %s", c.path)
	}
	c.pool.Store(pool)
	return nil
}

// requireClientCert returns a TLS configuration that requires a client certificate. It reads the file again for each
// connection, so that authorities can be replaced; if that fails, the last authorities stay valid.
func (c *clients) requireClientCert(config *tls.Config) *tls.Config {
	if c.path == "" {
		return config
	}
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		_ = c.readAuthorities()
		one := config.Clone()
		one.GetConfigForClient = nil
		one.ClientAuth, one.ClientCAs, one.VerifyConnection = tls.RequireAndVerifyClientCert, c.pool.Load(), c.verifyName
		return one, nil
	}
	return config
}

// verifyName rejects a client whose certificate has none of the accepted names.
func (c *clients) verifyName(state tls.ConnectionState) error {
	if len(c.names) == 0 {
		return nil
	}
	if len(state.PeerCertificates) == 0 {
		return errors.New("the client did not present a certificate")
	}
	if name := state.PeerCertificates[0].Subject.CommonName; !slices.Contains(c.names, name) {
		return fmt.Errorf("client %q is not allowed to request reviews: reviews are accepted only from %s", name, strings.Join(c.names, ", "))
	}
	return nil
}
