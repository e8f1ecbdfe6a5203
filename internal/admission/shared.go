package admission

import (
	"context"
	"crypto/tls"
	"time"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Certificate is a serving certificate that is made and renewed as the webhooks' is, for another server of the daemon's.
type Certificate struct{ keeper *certificateKeeper }

// NewCertificate is one for some hosts, kept in a Secret that replicas share, or in memory when secrets is nil.
func NewCertificate(secrets corev1client.SecretInterface, secret string, hosts []string, now func() time.Time) *Certificate {
	return &Certificate{keeper: &certificateKeeper{hosts: hosts, now: now, secrets: secrets, secret: secret}}
}

// Get answers TLS handshakes.
func (c *Certificate) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.keeper.get(hello)
}

// CABundle gives the authorities that clients are to trust, PEM.
func (c *Certificate) CABundle() []byte { return c.keeper.caBundle() }

// Refresh makes or renews the certificate when it is time, and says when that will be again.
func (c *Certificate) Refresh(ctx context.Context) (time.Time, error) { return c.keeper.refresh(ctx) }
