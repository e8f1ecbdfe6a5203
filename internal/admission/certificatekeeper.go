package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecretName is the Secret that holds the certificate of the webhooks behind a Service or a URL.
const SecretName = "volcano-admission-certificate"

// caBundleKey is the key of the authorities in the Secret; the other keys are the standard keys of a TLS Secret.
const caBundleKey = "ca.crt"

// writeAttempts is the maximum number of attempts to write the Secret while other replicas are writing it, too.
const writeAttempts = 5

// filesCheck is the interval between two reads of a certificate that an administrator provides. The kubelet updates a mounted
// Secret within about a minute.
const filesCheck = time.Minute

// certificateKeeper keeps one certificate valid, in memory or in a Secret shared by replicas. If dir is set, it serves the
// certificate in that directory instead, which other software renews.
type certificateKeeper struct {
	dir     string
	hosts   []string
	now     func() time.Time
	secrets ObjectClient[*corev1.Secret] // nil means in memory only
	secret  string                       // name of the Secret

	bundle  atomic.Pointer[certificates]
	serving atomic.Pointer[tls.Certificate]
}

func newCertificateKeeper(now func() time.Time, secrets ObjectClient[*corev1.Secret], hosts []string) *certificateKeeper {
	return &certificateKeeper{hosts: hosts, now: now, secrets: secrets, secret: SecretName}
}

// getCertificate returns the certificate for a TLS handshake.
func (k *certificateKeeper) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if pair := k.serving.Load(); pair != nil {
		return pair, nil
	}
	return nil, errors.New("no certificate yet")
}

// caBundle returns the authorities that clients should trust.
func (k *certificateKeeper) caBundle() []byte {
	if held := k.bundle.Load(); held != nil {
		return held.CABundle
	}
	return nil
}

// refreshCertificate loads the certificate from the Secret, renews it if renewal is due, and returns the time at which
// the next renewal is due.
func (k *certificateKeeper) refreshCertificate(ctx context.Context) (time.Time, error) {
	if k.dir != "" {
		return k.refreshFromFiles()
	}
	if k.secrets == nil {
		return k.refreshInMemory()
	}
	for range writeAttempts {
		next, err := k.refreshSecret(ctx)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return next, err
		}
	}
	return time.Time{}, fmt.Errorf("secret %s was changed by another client at the same time", k.secret)
}

// refreshFromFiles loads the certificate from the directory, and returns the time of the next read. An expired certificate is
// an error, because the API server rejects it.
func (k *certificateKeeper) refreshFromFiles() (time.Time, error) {
	given := certificates{}
	for name, content := range map[string]*[]byte{caBundleKey: &given.CABundle, corev1.TLSCertKey: &given.Cert, corev1.TLSPrivateKeyKey: &given.Key} {
		var err error
		if *content, err = os.ReadFile(filepath.Join(k.dir, name)); err != nil {
			return time.Time{}, fmt.Errorf("%w: the directory of --webhook-certificate-dir must contain %s, %s and %s",
				err, corev1.TLSCertKey, corev1.TLSPrivateKeyKey, caBundleKey)
		}
	}
	now := k.now()
	if err := given.verify(k.hosts, now); err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", filepath.Join(k.dir, corev1.TLSCertKey), err)
	}
	_, err := k.useCertificates(given)
	return now.Add(filesCheck), err
}

func (k *certificateKeeper) refreshInMemory() (time.Time, error) {
	now := k.now()
	var held certificates
	if current := k.bundle.Load(); current != nil {
		held = *current
	}
	if due := held.renewAt(k.hosts); now.Before(due) {
		return due, nil
	}
	fresh, err := issueCertificates(now, k.hosts)
	if err != nil {
		return time.Time{}, err
	}
	return k.useCertificates(held.withPreviousCAs(fresh, now))
}

func (k *certificateKeeper) refreshSecret(ctx context.Context) (time.Time, error) {
	now := k.now()
	secret, err := k.secrets.Get(ctx, k.secret, metav1.GetOptions{})
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return time.Time{}, err
	}
	var held certificates
	if !missing {
		held = certificates{CABundle: secret.Data[caBundleKey], Cert: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey]}
		if now.Before(held.renewAt(k.hosts)) {
			return k.useCertificates(held)
		}
	}
	fresh, err := issueCertificates(now, k.hosts)
	if err != nil {
		return time.Time{}, err
	}
	next := held.withPreviousCAs(fresh, now)
	data := map[string][]byte{caBundleKey: next.CABundle, corev1.TLSCertKey: next.Cert, corev1.TLSPrivateKeyKey: next.Key}
	if missing {
		_, err = k.secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: k.secret},
			Type:       corev1.SecretTypeTLS,
			Data:       data,
		}, metav1.CreateOptions{})
	} else {
		secret = secret.DeepCopy()
		secret.Data = data
		_, err = k.secrets.Update(ctx, secret, metav1.UpdateOptions{})
	}
	if err != nil {
		return time.Time{}, err
	}
	return k.useCertificates(next)
}

// useCertificates starts serving certs.
func (k *certificateKeeper) useCertificates(certs certificates) (time.Time, error) {
	if held := k.bundle.Load(); held == nil || !bytes.Equal(held.Cert, certs.Cert) {
		pair, err := certs.keyPair()
		if err != nil {
			return time.Time{}, err
		}
		k.serving.Store(&pair)
	}
	k.bundle.Store(&certs)
	return certs.renewAt(k.hosts), nil
}
