package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/admission"
)

// expiresSoon is the remaining time of a certificate from which on it is reported. vcd renews its certificate long
// before that.
const expiresSoon = 30 * 24 * time.Hour

// dialTimeout is the time limit for reading the certificate from the webhooks.
const dialTimeout = 3 * time.Second

// bundle is the set of authorities with which the API server verifies a webhook's certificate.
type bundle struct {
	title string // of the configuration
	host  string // the name for which the certificate must be valid
	pem   []byte
}

// certificateFacts holds the authorities in the webhook configurations and the webhooks' certificate.
type certificateFacts struct {
	now     time.Time
	bundles []bundle
	// serving is the chain that the webhooks serve, with their own certificate first. source says where it was read.
	serving []*x509.Certificate
	source  string
	// servingErr is the reason why the serving certificate is invalid or could not be read.
	servingErr *Finding
}

func checkCertificates(ctx context.Context, r *reader) []Finding {
	configurations, problem := r.readConfigurations(ctx, wantedConfigurations())
	if problem != nil {
		return []Finding{*problem}
	}
	facts := certificateFacts{now: r.o.f.Now()}
	address := ""
	for _, one := range configurations {
		for _, hook := range one.hooks {
			host, dial := webhookAddress(&hook.client)
			address = firstText(address, dial)
			facts.bundles = append(facts.bundles, bundle{one.title, host, hook.client.CABundle})
		}
	}
	r.readServing(ctx, &facts, address)
	return decideCertificates(&facts)
}

// webhookAddress returns the host name of a webhook, and its address as host:port.
func webhookAddress(config *admissionregistrationv1.WebhookClientConfig) (host, address string) {
	switch {
	case config.Service != nil:
		host = config.Service.Name + "." + config.Service.Namespace + ".svc"
		port := int32(443)
		if config.Service.Port != nil {
			port = *config.Service.Port
		}
		return host, net.JoinHostPort(host, strconv.Itoa(int(port)))
	case config.URL != nil:
		if parsed, err := url.Parse(*config.URL); err == nil {
			port := firstText(parsed.Port(), "443")
			return parsed.Hostname(), net.JoinHostPort(parsed.Hostname(), port)
		}
	}
	return "", ""
}

// readServing reads the certificate of the webhooks from their Secret or, if this is not possible, from the webhooks.
func (r *reader) readServing(ctx context.Context, facts *certificateFacts, address string) {
	var secret corev1.Secret
	found, problem := r.read(ctx, &secret, "Secret", r.namespace, admission.SecretName)
	if found {
		facts.source = "Secret " + r.namespace + "/" + admission.SecretName
		chain, err := parseChain(secret.Data[corev1.TLSCertKey])
		if err != nil {
			invalid := failed("delete the Secret and restart vc-admission, which issues a new certificate", "%s, %s: %v", facts.source, corev1.TLSCertKey, err)
			facts.servingErr = &invalid
		}
		facts.serving = chain
		return
	}
	if address == "" {
		return
	}
	chain, err := dialForChain(ctx, address)
	switch {
	case err == nil:
		facts.serving, facts.source = chain, "the webhooks at "+address
	case problem != nil:
		facts.servingErr = problem
	default:
		unknown := skipped("the certificate of the webhooks cannot be read: namespace %s has no Secret %s, and this machine cannot connect to %s", r.namespace, admission.SecretName, address)
		facts.servingErr = &unknown
	}
}

// dialForChain returns the certificates that a server presents. It does not verify them, because decideCertificates does.
func dialForChain(ctx context.Context, address string) ([]*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var chain []*x509.Certificate
	config := &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // nothing is sent, and the certificates are verified afterwards
		VerifyConnection: func(state tls.ConnectionState) error {
			chain = state.PeerCertificates
			return nil
		},
	}
	connection, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	if err == nil {
		defer connection.Close()
	}
	if len(chain) > 0 {
		return chain, nil // a server that requires a client certificate rejects the connection after it has presented its own
	}
	return nil, err
}

// parseChain returns the certificates in a PEM text.
func parseChain(text []byte) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		chain = append(chain, one)
	}
	if len(chain) == 0 {
		return nil, fmt.Errorf("it contains no certificate")
	}
	return chain, nil
}

const restartAdmission = "restart vc-admission, which renews its certificate and corrects the configurations, unless the certificate is managed by cert-manager or by you"

func decideCertificates(facts *certificateFacts) []Finding {
	var findings []Finding
	if len(facts.bundles) == 0 {
		findings = append(findings, failed("check that vc-admission runs; it installs the webhooks", "no webhook configuration contains a webhook"))
	}
	for _, group := range groupBundles(facts.bundles) {
		findings = append(findings, facts.judgeBundle(group)...)
	}
	if len(facts.serving) > 0 {
		findings = append(findings, facts.judgeServing()...)
	}
	if facts.servingErr != nil {
		findings = append(findings, *facts.servingErr)
	}
	if len(facts.serving) == 0 {
		return orFine(findings, ok("the authorities in the webhook configurations are valid"))
	}
	return orFine(findings, ok("the certificate of the webhooks is valid until %s and matches the webhook configurations", facts.serving[0].NotAfter.UTC().Format(time.RFC3339)))
}

// bundleGroup holds the webhooks that have the same authorities and the same host.
type bundleGroup struct {
	bundle
	count int
}

// groupBundles groups webhooks that have the same authorities and the same host.
func groupBundles(bundles []bundle) []bundleGroup {
	var groups []bundleGroup
next:
	for _, one := range bundles {
		for i := range groups {
			if groups[i].host == one.host && bytes.Equal(groups[i].pem, one.pem) {
				groups[i].count++
				continue next
			}
		}
		groups = append(groups, bundleGroup{one, 1})
	}
	return groups
}

// name returns the name of the group for a message.
func (g *bundleGroup) name() string {
	if g.count == 1 {
		return g.title
	}
	return fmt.Sprintf("%s and %d other webhooks", g.title, g.count-1)
}

// judgeBundle returns the findings about the authorities of a group of webhooks.
func (f *certificateFacts) judgeBundle(group bundleGroup) []Finding {
	if len(group.pem) == 0 {
		return []Finding{failed(restartAdmission, "%s: no authority (caBundle) is set", group.name())}
	}
	authorities, err := parseChain(group.pem)
	if err != nil {
		return []Finding{failed(restartAdmission, "%s: the authority (caBundle) is invalid: %v", group.name(), err)}
	}
	latest := authorities[0].NotAfter
	roots := x509.NewCertPool()
	for _, authority := range authorities {
		roots.AddCert(authority)
		if authority.NotAfter.After(latest) {
			latest = authority.NotAfter
		}
	}
	switch {
	case f.now.After(latest):
		return []Finding{failed(restartAdmission, "%s: the authority (caBundle) expired at %s", group.name(), latest.UTC().Format(time.RFC3339))}
	case f.now.Add(expiresSoon).After(latest):
		return []Finding{warning(restartAdmission, "%s: the authority (caBundle) expires at %s", group.name(), latest.UTC().Format(time.RFC3339))}
	case len(f.serving) == 0:
		return nil
	}
	if err := f.verify(roots, group.host); err != nil {
		return []Finding{failed(restartAdmission, "%s: the certificate in %s does not match: %v", group.name(), f.source, err)}
	}
	return nil
}

// verify reports whether the serving certificate is signed by one of the authorities and valid for the host. It ignores
// the expiry, which judgeServing reports.
func (f *certificateFacts) verify(roots *x509.CertPool, host string) error {
	intermediates := x509.NewCertPool()
	for _, one := range f.serving[1:] {
		intermediates.AddCert(one)
	}
	within := f.serving[0].NotBefore.Add(f.serving[0].NotAfter.Sub(f.serving[0].NotBefore) / 2)
	_, err := f.serving[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: intermediates, CurrentTime: within})
	return err
}

// judgeServing returns the findings about the dates of the serving certificate.
func (f *certificateFacts) judgeServing() []Finding {
	leaf := f.serving[0]
	end := leaf.NotAfter.UTC().Format(time.RFC3339)
	switch {
	case f.now.After(leaf.NotAfter):
		return []Finding{failed(restartAdmission, "the certificate in %s expired at %s", f.source, end)}
	case f.now.Before(leaf.NotBefore):
		return []Finding{failed("synchronize the clocks with NTP; see the check clock", "the certificate in %s is valid only from %s on", f.source, leaf.NotBefore.UTC().Format(time.RFC3339))}
	case f.now.Add(expiresSoon).After(leaf.NotAfter):
		return []Finding{warning(restartAdmission, "the certificate in %s expires at %s", f.source, end)}
	}
	return nil
}
