package admission

import (
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
)

const (
	// DefaultListenAddress is where the webhooks listen when nothing is said.
	DefaultListenAddress = ":8443"
	// renewalRetry is how long a failed renewal of the certificate waits. There is a third of its life left by then.
	renewalRetry = time.Minute
	// renewalCheck is the longest time between two looks at the certificate; other replicas may have renewed it.
	renewalCheck = 12 * time.Hour
	// drainTime is how long requests may take that are under way when the server is stopped.
	drainTime = 10 * time.Second
)

// Options say where the webhooks listen and how the API server reaches them.
type Options struct {
	// ListenAddress is host:port; port 0 takes a free one. Default DefaultListenAddress.
	ListenAddress string
	// URL is how the API server reaches the webhooks, without a path. Empty, and without a Service, it is
	// https://ListenAddress: right where the API server runs on this machine.
	URL string
	// ServiceNamespace and ServiceName name the Service in front of the webhooks, in place of a URL. The certificate
	// is then kept in a Secret of that namespace, for all replicas.
	ServiceNamespace, ServiceName string
	// SecretNamespace is where replicas behind one URL share their certificate, in a Secret. Empty: it is kept in memory, which is right for one
	// process alone. With a Service it is that of the Service.
	SecretNamespace string
	// SchedulerNames are the schedulers whose pods are ours; the first is the default of jobs. Default volcano.
	SchedulerNames []string
	// JobIDs numbers new jobs; nil leaves that to the controller.
	JobIDs JobIDs
	// Enabled lists the paths of the webhooks that are installed, for example /jobs/validate; empty is all of them.
	Enabled []string
	// AdmissionConf is the file of resource groups for pods; it is read again when it changes. Empty: there are none.
	AdmissionConf string
	// QueueGate gates pods of ours that ask for it by annotation until the scheduler finds room in their queue.
	QueueGate bool
	// Queues are the rules of queues that may be chosen.
	Queues schedulingv1beta1.QueueRules
	// MaxReplicas is how many pods the tasks of a job may have together. Default batchv1alpha1.DefaultMaxReplicas.
	MaxReplicas int64
	// RequirePriorityClassUse: who names a PriorityClass in a Job, a PodGroup, or what jobs are made from needs the right to use it (verb use).
	RequirePriorityClassUse bool
	// ClientCAFile holds the authorities that sign the certificates of those who may send reviews: the API server, when it is configured to present one.
	// Empty: whoever reaches the port may.
	ClientCAFile string
	// ClientNames are the common names of their certificates; none: every certificate of the authorities will do.
	ClientNames []string
	// Ready is called once when the webhooks are served and installed. May be nil.
	Ready func()
	// Now is the clock of the certificates. Default time.Now.
	Now func() time.Time
}

// withDefaults fills in and checks the options.
func (o Options) withDefaults() (Options, error) {
	if o.ListenAddress == "" {
		o.ListenAddress = DefaultListenAddress
	}
	if len(o.SchedulerNames) == 0 {
		o.SchedulerNames = []string{keys.DefaultSchedulerName}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxReplicas == 0 {
		o.MaxReplicas = batchv1alpha1.DefaultMaxReplicas
	}
	known := slices.Sorted(maps.Keys((&hooks{}).handlers()))
	for _, path := range o.Enabled {
		if !slices.Contains(known, path) {
			return o, fmt.Errorf("admission: there is no webhook %q; there are %s", path, strings.Join(known, ", "))
		}
	}
	if (o.ServiceName == "") != (o.ServiceNamespace == "") {
		return o, errors.New("admission: the webhooks' Service wants both a name and a namespace")
	}
	if o.ServiceNamespace != "" {
		o.SecretNamespace = o.ServiceNamespace
	}
	if o.ServiceName != "" && o.URL != "" {
		return o, errors.New("admission: webhooks are reached by a URL or by a Service, not by both")
	}
	if o.URL != "" {
		if parsed, err := url.Parse(o.URL); err != nil || parsed.Scheme != "https" || parsed.Host == "" {
			return o, fmt.Errorf("admission: webhook URL %q: want https://host[:port]", o.URL)
		}
	}
	return o, nil
}

// Run serves the webhooks until ctx ends and keeps their configurations and certificate up to date. It returns nil
// when it was told to stop. The configurations stay: our kinds are refused while nobody can check them.
func Run(ctx context.Context, config *rest.Config, options Options) error {
	options, err := options.withDefaults()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("admission: client: %w", err)
	}
	queues, err := newQueueCache(config)
	if err != nil {
		return err
	}
	pods, err := newPodRules(options)
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
	where, hosts, err := endpoint(options, listener.Addr())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	jobs, err := newJobReader(config)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	keeper := newCertificateKeeper(options, client, hosts)
	hooks := &hooks{queues: queues, jobs: jobs, namespaces: client.CoreV1().Namespaces(), schedulers: options.SchedulerNames, ids: options.JobIDs, pods: pods, queueRules: options.Queues, reviews: client.AuthorizationV1().SubjectAccessReviews(),
		maxReplicas: options.MaxReplicas, requireClassUse: options.RequirePriorityClassUse}
	handler, err := hooks.handler(klog.FromContext(ctx).WithName("admission"))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return serve(ctx, &service{
		listener: listener, handler: handler, keeper: keeper, queues: queues,
		watch: func(ctx context.Context, changed func()) error { return watchConfigurations(ctx, client, changed) },
		install: func(ctx context.Context, caBundle []byte) ([]string, error) {
			mutating, validating := options.enabledRules(pods)
			return install(ctx, client.AdmissionregistrationV1(), configurations(where, caBundle, mutating, validating))
		},
		clients: clients,
		pods:    pods,
		ready:   options.Ready,
		now:     options.Now,
	})
}

// enabledRules are the webhooks to install; those that are not wanted are switched off.
func (o *Options) enabledRules(pods *podRules) (mutating, validating []rule) {
	mutating, validating = append(mutatingRules(), pods.rule()), validatingRules(o.SchedulerNames)
	for _, rules := range [][]rule{mutating, validating} {
		for i := range rules {
			rules[i].off = rules[i].off || len(o.Enabled) > 0 && !slices.Contains(o.Enabled, rules[i].path)
		}
	}
	return mutating, validating
}

// service is what runs: the server, the queue cache and the renewal of the certificate.
type service struct {
	listener net.Listener
	handler  http.Handler
	keeper   *certificateKeeper
	queues   *queueCache
	pods     *podRules
	clients  *clients
	// watch calls changed when a configuration of ours may not be what it should be, until ctx ends.
	watch func(ctx context.Context, changed func()) error
	// install makes the configurations what they should be and names those that were not.
	install func(ctx context.Context, caBundle []byte) (corrected []string, err error)
	ready   func()
	now     func() time.Time
}

func serve(ctx context.Context, s *service) error {
	group, ctx := errgroup.WithContext(ctx)
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		// Handshakes that fail are the caller's trouble, and loud while a new authority makes its way.
		ErrorLog:  slog.NewLogLogger(logr.ToSlogHandler(klog.FromContext(ctx).WithName("admission")), slog.LevelDebug),
		TLSConfig: s.clients.require(&tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.keeper.get, NextProtos: []string{"h2", "http/1.1"}}),
	}
	if _, err := s.keeper.refresh(ctx); err != nil {
		return errors.Join(fmt.Errorf("admission: certificate: %w", err), s.listener.Close())
	}
	group.Go(func() error { return s.queues.run(ctx) })
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
		default: // it is known already
		}
	}
	if s.pods.path != "" {
		group.Go(func() error {
			ticker := time.NewTicker(groupsPoll)
			defer ticker.Stop()
			s.pods.follow(ctx, ticker.C, wake)
			return nil
		})
	}
	group.Go(func() error { return s.watch(ctx, wake) })
	group.Go(func() error { return s.maintain(ctx, changed) })
	return group.Wait()
}

// maintain installs the webhooks, reports that they are ready, renews their certificate in time, and repairs them when
// somebody changed them: without them jobs would be created unchecked, or not at all.
func (s *service) maintain(ctx context.Context, changed <-chan struct{}) error {
	log := klog.FromContext(ctx).WithName("admission")
	if !s.queues.wait(ctx) {
		return nil
	}
	installed := false
	for ctx.Err() == nil {
		next, err := s.keeper.refresh(ctx)
		var corrected []string
		if err == nil {
			corrected, err = s.install(ctx, s.keeper.caBundle())
		}
		if installed && len(corrected) > 0 {
			log.Info("Webhook configurations were not what they should be and have been corrected", "configurations", corrected)
			sleep(ctx, repairPause)
		}
		wait := min(max(next.Sub(s.now()), renewalRetry), renewalCheck)
		switch {
		case err == nil && !installed:
			installed = true
			log.Info("Webhooks are served and installed", "address", s.listener.Addr().String())
			if s.ready != nil {
				s.ready()
			}
		case err != nil && installed:
			log.Error(err, "Certificate or configurations of the webhooks could not be brought up to date, trying again", "after", repairRetry)
			wait = repairRetry
		case err != nil && ctx.Err() == nil:
			return fmt.Errorf("admission: install webhooks: %w", err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-changed:
		}
		timer.Stop()
	}
	return nil
}

// target is how the API server reaches the webhooks: a URL without a path, or a Service.
type target struct {
	url                           string
	serviceNamespace, serviceName string
}

// endpoint says how the API server reaches a listener at address, and for which hosts the certificate must be.
func endpoint(options Options, address net.Addr) (target, []string, error) {
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
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return target{}, nil, fmt.Errorf("admission: address %s: %w", address, err)
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			return target{}, nil, fmt.Errorf("admission: host name for the webhooks' URL: %w", err)
		}
	}
	return target{url: "https://" + net.JoinHostPort(host, port)}, []string{host}, nil
}
