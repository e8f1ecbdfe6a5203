package admission

import (
	"context"
	"crypto/tls"
	"time"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Certificate is a serving certificate for another server of the daemon. It is issued and renewed in the same way as
// the certificate of the webhooks.
type Certificate struct{ keeper *certificateKeeper }

// NewCertificate returns a certificate for the given hosts. It is stored in a Secret shared by replicas, or in memory
// if secrets is nil.
func NewCertificate(secrets corev1client.SecretInterface, secret string, hosts []string, now func() time.Time) *Certificate {
	return &Certificate{keeper: &certificateKeeper{hosts: hosts, now: now, secrets: secrets, secret: secret}}
}

// Get returns the certificate for a TLS handshake.
func (c *Certificate) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.keeper.getCertificate(hello)
}

// CABundle returns the authorities that clients should trust, as PEM.
func (c *Certificate) CABundle() []byte { return c.keeper.caBundle() }

// RefreshIfDue issues or renews the certificate if this is due, and returns the time at which the next renewal is due.
func (c *Certificate) RefreshIfDue(ctx context.Context) (time.Time, error) {
	return c.keeper.refreshCertificate(ctx)
}
