package admission

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/vc-batch/vc/internal/apiclient"
)

// Webhooks contains the webhooks of one process, and the steps that keep their configurations and their certificate up
// to date. It contains no server, no watches and no timers: the daemon adds them, and so does a simulation.
type Webhooks struct {
	options  Options
	cluster  Cluster
	address  target
	pods     *podRules
	keeper   *certificateKeeper
	bounds   *bounds
	handlers map[string]admission.HandlerFunc
	// isInstalled is true after the configurations have been installed for the first time.
	isInstalled bool
}

// New returns the webhooks of a process whose server listens on an address.
func New(options Options, cluster Cluster, listenAddress string) (*Webhooks, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	pods, err := newPodRules(options)
	if err != nil {
		return nil, err
	}
	address, hosts, err := webhookEndpoint(options, listenAddress)
	if err != nil {
		return nil, err
	}
	h := &hooks{
		queues: queueCache{known: cluster.Queues, read: cluster.ReadQueue, list: cluster.ListQueues}, jobs: cluster.Jobs, namespaces: cluster.Namespaces,
		reviews: cluster.Reviews, schedulers: options.SchedulerNames, ids: options.JobIDs, pods: pods, queueRules: options.Queues, recordJobs: options.RecordJobs,
		maxReplicas: options.MaxReplicas, requireClassUse: options.RequirePriorityClassUse,
		now: options.Now, deletions: cluster.Deletions,
		accounts: cluster.Accounts, submitted: cluster.Submitted, requireAccounts: options.RequireAccounts,
	}
	keeper := newCertificateKeeper(options.Now, cluster.Secrets, hosts)
	keeper.dir = options.CertificateDir
	bounds := newBounds()
	return &Webhooks{
		options: options, cluster: cluster, address: address, pods: pods, keeper: keeper,
		bounds: bounds, handlers: h.boundedHandlers(bounds),
	}, nil
}

// newHandler returns an HTTP handler that serves all webhooks.
func (w *Webhooks) newHandler(log logr.Logger) (http.Handler, error) {
	return newHTTPHandler(log, w.bounds, w.handlers)
}

// Review returns the response of the webhook at a path.
func (w *Webhooks) Review(ctx context.Context, path string, request admission.Request) (admission.Response, error) {
	handle, ok := w.handlers[path]
	if !ok {
		return admission.Response{}, fmt.Errorf("admission: there is no webhook %s", path)
	}
	response := handle(ctx, request)
	if err := response.Complete(request); err != nil {
		return admission.Response{}, fmt.Errorf("admission: webhook %s: %w", path, err)
	}
	return response, nil
}

// LoadCertificate loads or issues the certificate. It must succeed before reviews are served.
func (w *Webhooks) LoadCertificate(ctx context.Context) error {
	if _, err := w.keeper.refreshCertificate(ctx); err != nil {
		return fmt.Errorf("admission: certificate: %w", err)
	}
	return nil
}

// Certificate returns the certificate for a TLS handshake. The handshake may be nil.
func (w *Webhooks) Certificate(handshake *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return w.keeper.getCertificate(handshake)
}

// Schedule is the time of the next maintenance.
type Schedule struct {
	// Pause is the time during which changes of the configurations are not handled.
	Pause time.Duration
	// Wait is the time from the end of the pause to the next maintenance if no configuration changes before that.
	Wait time.Duration
}

// Maintain renews the certificate if this is due, and installs the configurations or repairs them after a change by
// another client, because a wrong configuration would leave jobs unchecked or prevent their creation. The first call must
// follow LoadCertificate, and the first list of the queues. Until the first installation has succeeded, Maintain returns
// every error except that the API server is unavailable; the process cannot continue then. Later errors are logged, and
// the next maintenance tries again.
func (w *Webhooks) Maintain(ctx context.Context) (Schedule, error) {
	log := klog.FromContext(ctx).WithName("admission")
	renewal, err := w.keeper.refreshCertificate(ctx)
	var corrected []string
	if err == nil {
		corrected, err = w.install(ctx)
	}
	next := Schedule{Wait: min(max(renewal.Sub(w.options.Now()), renewalRetry), renewalCheck)}
	if w.isInstalled && len(corrected) > 0 {
		log.Info("Restored webhook configurations that another client had changed", "configurations", corrected)
		next.Pause = repairPause
	}
	switch {
	case err != nil && !w.isInstalled && !apiclient.IsUnavailable(err):
		return Schedule{}, fmt.Errorf("admission: install webhooks: %w", err)
	case err != nil && !w.isInstalled:
		log.Info("The API server is unreachable; the webhooks are not installed yet", "reason", err.Error(), "retryAfter", installRetry.String())
		next.Wait = installRetry
	case err != nil:
		log.Error(err, "Could not update the webhook certificate or configurations; trying again", "after", repairRetry)
		next.Wait = repairRetry
	case !w.isInstalled:
		w.isInstalled = true
		log.Info("Webhooks are installed and ready", "address", w.address.String())
		if w.options.Ready != nil {
			w.options.Ready()
		}
	}
	return next, nil
}

// install creates or corrects the configurations, and returns the names of those that it has written.
func (w *Webhooks) install(ctx context.Context) ([]string, error) {
	mutating, validating := w.options.enabledRules(w.pods)
	return installWebhooks(ctx, &w.cluster, webhookConfigsFor(w.address, w.keeper.caBundle(), mutating, validating))
}
