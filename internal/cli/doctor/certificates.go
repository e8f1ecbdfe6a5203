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
	"slices"
	"strconv"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
)

// expiresSoon is the remaining time of a certificate from which on it is reported. vcd renews its certificate long
// before that.
const expiresSoon = 30 * 24 * time.Hour

// certificateDirFlag is the flag of vc-admission with the directory of a certificate that vcd does not issue itself.
const certificateDirFlag = "--webhook-certificate-dir="

// dialTimeout is the time limit for reading the certificate from the webhooks.
const dialTimeout = 3 * time.Second

// bundle is the set of authorities with which the API server verifies a webhook's certificate.
type bundle struct {
	title string // of the configuration
	host  string // the name for which the certificate must be valid
	pem   []byte
}

// certified describes the server of a certificate for messages.
type certified struct {
	// name is the server, and registrations are the objects with the authorities.
	name, registrations string
	// missing is the effect of a missing registration, and start is the remedy.
	missing, start string
	// renew is the remedy for an invalid certificate.
	renew string
}

var (
	certifiedWebhooks = certified{
		name: "the webhooks", registrations: "the webhook configurations",
		missing: "no webhook configuration contains a webhook", start: "check that vc-admission runs; it installs the webhooks",
		renew: "restart vc-admission, which renews its certificate and corrects the configurations, unless the certificate is managed by cert-manager or by you",
	}
	certifiedAccounting = certified{
		name: "accounting", registrations: "APIService " + accountingRegistration,
		missing: "APIService " + accountingRegistration + " does not exist", start: "check that vc-accounting runs; it creates the APIService",
		renew: "restart vc-accounting, which renews its certificate and corrects the APIService",
	}
)

// certificateFacts holds the authorities with which the API server verifies a server, and the server's certificate.
type certificateFacts struct {
	server  certified
	now     time.Time
	bundles []bundle
	// serving is the chain that the server presents, with their own certificate first. source is the place where it was read.
	serving []*x509.Certificate
	source  string
	// servingErr is the reason why the serving certificate is invalid or could not be read.
	servingErr *Finding
}

func checkCertificates(ctx context.Context, r *reader) []Finding {
	findings := r.checkWebhookCertificate(ctx)
	if r.accounting != nil {
		findings = append(findings, r.checkAccountingCertificate(ctx)...)
	}
	return findings
}

// checkAccountingCertificate checks the certificate of the accounting API.
func (r *reader) checkAccountingCertificate(ctx context.Context) []Finding {
	facts := certificateFacts{server: certifiedAccounting, now: r.o.f.Now()}
	authorities, found, problem := r.readAccountingAuthorities(ctx)
	if problem != nil {
		return []Finding{*problem}
	}
	if found {
		host := deploy.AccountingWorkload + "." + r.namespace + ".svc"
		facts.bundles = []bundle{{"APIService " + accountingRegistration, host, authorities}}
	}
	if _, problem := r.readSecret(ctx, &facts, deploy.AccountingCertificate); problem != nil {
		facts.servingErr = problem
	}
	return decideCertificates(&facts)
}

// checkWebhookCertificate checks the certificate of the webhooks.
func (r *reader) checkWebhookCertificate(ctx context.Context) []Finding {
	configurations, problem := r.readConfigurations(ctx, wantedConfigurations())
	if problem != nil {
		return []Finding{*problem}
	}
	facts := certificateFacts{server: certifiedWebhooks, now: r.o.f.Now()}
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

// readSecret reads a certificate from a Secret. It returns false if the Secret does not exist. If the Secret cannot be
// read, it returns the finding.
func (r *reader) readSecret(ctx context.Context, facts *certificateFacts, name string) (bool, *Finding) {
	var secret corev1.Secret
	found, problem := r.read(ctx, &secret, "Secret", r.namespace, name)
	if !found {
		return false, problem
	}
	facts.source = "Secret " + r.namespace + "/" + name
	chain, err := parseChain(secret.Data[corev1.TLSCertKey])
	if err != nil {
		invalid := failed("if vcd issued the certificate, delete the Secret; "+facts.server.renew, "%s, %s: %v", facts.source, corev1.TLSCertKey, err)
		facts.servingErr = &invalid
	}
	facts.serving = chain
	return true, nil
}

// webhookSecret returns the Secret with the certificate of the webhooks. It is the one that vc-admission mounts or, if
// vcd issues the certificate itself, the one that vcd writes.
func (r *reader) webhookSecret() string {
	deployment := r.deployments[deploy.AdmissionAccount]
	if deployment == nil {
		return admission.SecretName
	}
	pod := &deployment.Spec.Template.Spec
	volumes := map[string]string{}
	for _, volume := range pod.Volumes {
		if volume.Secret != nil {
			volumes[volume.Name] = volume.Secret.SecretName
		}
	}
	for _, container := range pod.Containers {
		for _, mount := range container.VolumeMounts {
			if slices.Contains(container.Args, certificateDirFlag+mount.MountPath) && volumes[mount.Name] != "" {
				return volumes[mount.Name]
			}
		}
	}
	return admission.SecretName
}

// readServing reads the certificate of the webhooks from their Secret or, if this is not possible, from the webhooks.
func (r *reader) readServing(ctx context.Context, facts *certificateFacts, address string) {
	name := r.webhookSecret()
	found, problem := r.readSecret(ctx, facts, name)
	if found || address == "" {
		return
	}
	chain, err := dialForChain(ctx, address)
	switch {
	case err == nil:
		facts.serving, facts.source = chain, "the webhooks at "+address
	case problem != nil:
		facts.servingErr = problem
	default:
		unknown := skipped("the certificate of the webhooks cannot be read: namespace %s has no Secret %s, and this machine cannot connect to %s", r.namespace, name, address)
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

func decideCertificates(facts *certificateFacts) []Finding {
	var findings []Finding
	if len(facts.bundles) == 0 {
		findings = append(findings, failed(facts.server.start, "%s", facts.server.missing))
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
		return orFine(findings, ok("the authorities in %s are valid", facts.server.registrations))
	}
	return orFine(findings, ok("the certificate of %s is valid until %s and matches %s", facts.server.name, facts.serving[0].NotAfter.UTC().Format(time.RFC3339), facts.server.registrations))
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
		return []Finding{failed(f.server.renew, "%s: no authority (caBundle) is set", group.name())}
	}
	authorities, err := parseChain(group.pem)
	if err != nil {
		return []Finding{failed(f.server.renew, "%s: the authority (caBundle) is invalid: %v", group.name(), err)}
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
		return []Finding{failed(f.server.renew, "%s: the authority (caBundle) expired at %s", group.name(), latest.UTC().Format(time.RFC3339))}
	case f.now.Add(expiresSoon).After(latest):
		return []Finding{warning(f.server.renew, "%s: the authority (caBundle) expires at %s", group.name(), latest.UTC().Format(time.RFC3339))}
	case len(f.serving) == 0:
		return nil
	}
	if err := f.verify(roots, group.host); err != nil {
		return []Finding{failed(f.server.renew, "%s: the certificate in %s does not match: %v", group.name(), f.source, err)}
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
		return []Finding{failed(f.server.renew, "the certificate in %s expired at %s", f.source, end)}
	case f.now.Before(leaf.NotBefore):
		return []Finding{failed("synchronize the clocks with NTP; see the check clock", "the certificate in %s is valid only from %s on", f.source, leaf.NotBefore.UTC().Format(time.RFC3339))}
	case f.now.Add(expiresSoon).After(leaf.NotAfter):
		return []Finding{warning(f.server.renew, "the certificate in %s expires at %s", f.source, end)}
	}
	return nil
}
