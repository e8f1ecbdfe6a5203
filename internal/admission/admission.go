package admission

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/apiclient"
)

const (
	// DefaultListenAddress is the default address of the webhook server.
	DefaultListenAddress = ":8443"
	// renewalRetry is the delay before another attempt to renew the certificate. There is enough time for retries,
	// because a third of the certificate's lifetime remains when renewal starts.
	renewalRetry = time.Minute
	// renewalCheck is the maximum interval between checks of the certificate. The checks are necessary because another
	// replica may have renewed it.
	renewalCheck = 12 * time.Hour
	// drainTime is the time for requests in progress to finish when the server stops.
	drainTime = 10 * time.Second
)

// Options configures the address of the webhooks and the way in which the API server reaches them.
type Options struct {
	// ListenAddress is host:port; with port 0 the system chooses a free port. The default is DefaultListenAddress.
	ListenAddress string
	// URL is the address at which the API server reaches the webhooks, without a path. If neither URL nor the Service
	// is set, the address is https://ListenAddress, which works if the API server is running on this machine.
	URL string
	// ServiceNamespace and ServiceName name the Service in front of the webhooks; they replace URL. All replicas then
	// share the certificate in a Secret in that namespace.
	ServiceNamespace, ServiceName string
	// SecretNamespace is the namespace of the Secret in which replicas behind one URL share their certificate. If it is
	// empty, the certificate stays in memory, which is suitable for a single process. With a Service, it is the
	// namespace of the Service.
	SecretNamespace string
	// Owner is the name of the ClusterRole that owns the webhook configurations that this process creates. Kubernetes deletes
	// them together with the role. Without it, a process that still runs while vc is being removed could leave configurations
	// behind that reject all jobs. If it is empty, the configurations belong to no object.
	Owner string
	// CertificateDir is a directory with a certificate for the webhooks: tls.crt, tls.key, and the authorities in ca.crt, as in
	// a mounted Secret. The files are read again when they change. If it is empty, vcd issues and renews the certificate.
	CertificateDir string
	// SchedulerNames lists the schedulers whose pods this project manages; the first one is the default scheduler for
	// jobs. The default is volcano.
	SchedulerNames []string
	// JobIDs numbers new jobs. If it is nil, the controller numbers them.
	JobIDs JobIDs
	// Enabled lists the paths of the webhooks to install, for example /jobs/validate; empty means all.
	Enabled []string
	// AdmissionConf is the path of the file with resource groups for pods. The file is read again when it changes.
	// Empty means no resource groups.
	AdmissionConf string
	// QueueGate adds a scheduling gate to pods that request it by annotation. The gate remains until the pod's queue
	// has enough free capacity.
	QueueGate bool
	// Queues holds the optional rules for queues.
	Queues schedulingv1beta1.QueueRules
	// MaxReplicas is the maximum number of pods of a job, all tasks together. The default is
	// batchv1alpha1.DefaultMaxReplicas.
	MaxReplicas int64
	// RequirePriorityClassUse requires the permission (verb use) for each PriorityClass that a user names in a Job, a
	// PodGroup, or an object that jobs are created from.
	RequirePriorityClassUse bool
	// RequireAccounts rejects jobs without an account in which their user is listed, also if no account exists.
	RequireAccounts bool
	// RecordJobs adds a finalizer to new Jobs, which keeps a deleted Job until the accounting component has recorded it.
	// It also records the changes of accounts.
	RecordJobs bool
	// RecordNamespace is the namespace of the ConfigMaps with deletions of accounts that are not recorded yet.
	RecordNamespace string
	// ClientCAFile is the path of a file with the certificate authorities of clients that may send reviews, such as the
	// API server if it is configured to present a certificate. If it is empty, any client may send reviews.
	ClientCAFile string
	// ClientNames lists the common names accepted in client certificates; an empty list accepts every certificate from
	// the authorities.
	ClientNames []string
	// Ready is called once, when the webhooks are served and installed. It may be nil.
	Ready func()
	// Now returns the current time, for certificates. The default is time.Now.
	Now func() time.Time
}

// withDefaults validates the options and returns them with defaults filled in.
func (o Options) withDefaults() (Options, error) {
	o.ListenAddress = cmp.Or(o.ListenAddress, DefaultListenAddress)
	if len(o.SchedulerNames) == 0 {
		o.SchedulerNames = []string{keys.DefaultSchedulerName}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxReplicas = cmp.Or(o.MaxReplicas, batchv1alpha1.DefaultMaxReplicas)
	known := slices.Sorted(maps.Keys((&hooks{}).handlersByPath()))
	for _, path := range o.Enabled {
		if !slices.Contains(known, path) {
			return o, fmt.Errorf("admission: unknown webhook %q; valid webhooks are %s", path, strings.Join(known, ", "))
		}
	}
	if (o.ServiceName == "") != (o.ServiceNamespace == "") {
		return o, errors.New("admission: the webhook Service must have both a name and a namespace")
	}
	if o.ServiceNamespace != "" {
		o.SecretNamespace = o.ServiceNamespace
	}
	if o.ServiceName != "" && o.URL != "" {
		return o, errors.New("admission: specify either a URL or a Service for the webhooks, not both")
	}
	if o.URL != "" {
		if parsed, err := url.Parse(o.URL); err != nil || parsed.Scheme != "https" || parsed.Host == "" {
			return o, fmt.Errorf("admission: webhook URL %q: use the form https://host[:port]", o.URL)
		}
	}
	return o, nil
}

// Run serves the webhooks until ctx is done, and keeps their configurations and certificate up to date. It returns nil
// when ctx is done. The configurations stay installed, so the API server rejects objects of the project's kinds while
// no webhook can check them.
func Run(ctx context.Context, config *rest.Config, options Options) error {
	options, err := options.withDefaults()
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("admission: client: %w", err)
	}
	watches, err := newWatches(config, options.Now)
	if err != nil {
		return err
	}
	cluster, err := newCluster(&options, config, clientset, watches)
	if err != nil {
		return err
	}
	clients, err := newClients(&options)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", options.ListenAddress)
	if err != nil {
		return fmt.Errorf("admission: listen on %s: %w", options.ListenAddress, err)
	}
	webhooks, err := New(options, cluster, listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveWebhooks(ctx, &service{
		listener: listener, webhooks: webhooks, watches: watches, clients: clients,
		watch: func(ctx context.Context, changed func()) error { return watchConfigurations(ctx, clientset, changed) },
	})
}

// enabledRules returns the webhooks to install. Webhooks that are not enabled are marked as off.
func (o *Options) enabledRules(pods *podRules) (mutating, validating []rule) {
	mutating, validating = append(mutatingRules(), pods.webhookRule()), validatingRules(o.SchedulerNames)
	for _, rules := range [][]rule{mutating, validating} {
		for i := range rules {
			isUnused := rules[i].recordsChanges() && !o.RecordJobs
			isDisabled := len(o.Enabled) > 0 && !slices.Contains(o.Enabled, rules[i].path)
			rules[i].off = rules[i].off || isUnused || isDisabled
		}
	}
	return mutating, validating
}

// service runs the server, the watches and the maintenance of the webhooks.
type service struct {
	listener net.Listener
	webhooks *Webhooks
	watches  *watches
	clients  *clients
	// watch calls changed when one of the project's webhook configurations may have been modified, until ctx is done.
	watch func(ctx context.Context, changed func()) error
}

func serveWebhooks(ctx context.Context, s *service) error {
	group, ctx := errgroup.WithContext(ctx)
	handler, err := s.webhooks.newHandler(klog.FromContext(ctx).WithName("admission"))
	if err != nil {
		return errors.Join(err, s.listener.Close())
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		// A failed handshake is a problem of the client, so it is logged only for debugging. Many handshakes fail while
		// a new authority is being distributed.
		ErrorLog:  slog.NewLogLogger(logr.ToSlogHandler(klog.FromContext(ctx).WithName("admission")), slog.LevelDebug),
		TLSConfig: s.clients.requireClientCert(&tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.webhooks.Certificate, NextProtos: []string{"h2", "http/1.1"}}),
	}
	if err := s.loadCertificate(ctx); err != nil {
		return errors.Join(err, s.listener.Close())
	}
	group.Go(func() error { return s.watches.run(ctx) })
	group.Go(func() error {
		if err := server.ServeTLS(s.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("admission: serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		return server.Shutdown(drain)
	})
	changed := make(chan struct{}, 1)
	wake := func() {
		select {
		case changed <- struct{}{}:
		default: // a notification is pending already
		}
	}
	if pods := s.webhooks.pods; pods.path != "" {
		group.Go(func() error {
			ticker := time.NewTicker(groupsPoll)
			defer ticker.Stop()
			pods.followFile(ctx, ticker.C, wake)
			return nil
		})
	}
	group.Go(func() error { return s.watch(ctx, wake) })
	group.Go(func() error { return s.maintainWebhooks(ctx, changed) })
	return group.Wait()
}

// loadCertificate loads the certificate. It retries while the API server is unreachable, until ctx is done.
func (s *service) loadCertificate(ctx context.Context) error {
	err := s.webhooks.LoadCertificate(ctx)
	for apiclient.IsUnavailable(err) && ctx.Err() == nil {
		klog.FromContext(ctx).WithName("admission").Info("The API server is unreachable; the certificate is not loaded yet",
			"reason", err.Error(), "retryAfter", installRetry.String())
		sleepContext(ctx, installRetry)
		err = s.webhooks.LoadCertificate(ctx)
	}
	return err
}

// maintainWebhooks maintains the webhooks when a configuration has changed, and when the schedule says so.
func (s *service) maintainWebhooks(ctx context.Context, changed <-chan struct{}) error {
	if !s.watches.waitForSync(ctx) {
		return nil
	}
	for ctx.Err() == nil {
		next, err := s.webhooks.Maintain(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		sleepContext(ctx, next.Pause)
		timer := time.NewTimer(next.Wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-changed:
		}
		timer.Stop()
	}
	return nil
}

// target is the address at which the API server reaches the webhooks: a URL without a path, or a Service.
type target struct {
	url                           string
	serviceNamespace, serviceName string
}

// String returns the address for log messages.
func (t target) String() string {
	if t.url != "" {
		return t.url
	}
	return "service " + t.serviceNamespace + "/" + t.serviceName
}

// webhookEndpoint returns the address at which the API server reaches the server, and the hosts that the certificate must
// be valid for.
func webhookEndpoint(options Options, listenAddress string) (target, []string, error) {
	if options.ServiceName != "" {
		name, namespace := options.ServiceName, options.ServiceNamespace
		return target{serviceNamespace: namespace, serviceName: name}, []string{
			name + "." + namespace + ".svc", name + "." + namespace + ".svc.cluster.local", name + "." + namespace,
		}, nil
	}
	if options.URL != "" {
		parsed, err := url.Parse(options.URL)
		if err != nil {
			return target{}, nil, fmt.Errorf("admission: webhook URL: %w", err)
		}
		return target{url: "https://" + parsed.Host}, []string{parsed.Hostname()}, nil
	}
	host, port, err := net.SplitHostPort(listenAddress)
	if err != nil {
		return target{}, nil, fmt.Errorf("admission: address %s: %w", listenAddress, err)
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			return target{}, nil, fmt.Errorf("admission: host name for the webhook URL: %w", err)
		}
	}
	return target{url: "https://" + net.JoinHostPort(host, port)}, []string{host}, nil
}
