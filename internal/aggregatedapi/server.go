package aggregatedapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/admission"
)

const (
	// retryDelay is the delay before a retry after an error.
	retryDelay = 10 * time.Second
	// renewalCheck is the maximum interval between checks of the certificate and the registration.
	renewalCheck = 10 * time.Minute
	// idleTimeout is how long an unused connection stays open.
	idleTimeout = 90 * time.Second
	// drainTime is how long requests can continue after the server starts to shut down.
	drainTime = 5 * time.Second
	// authorityPoll is the interval between checks whether the API server's certificate authority is known.
	authorityPoll = 50 * time.Millisecond
)

// Group describes an API group and the program that serves it.
type Group struct {
	// Name and Version identify the group, for example metrics.k8s.io and v1beta1.
	Name, Version string
	// ServiceName is the Service if Options does not name one. It points to this machine.
	ServiceName string
	// SecretName is the Secret that contains the certificate if the group is behind a Service.
	SecretName string
	// Manager is the value of the label app.kubernetes.io/managed-by of the registration.
	Manager string
}

// RegistrationName returns the name of the APIService that registers the group with the API server.
func (g Group) RegistrationName() string { return g.Version + "." + g.Name }

// Options configures the server of a group. Without a ListenAddress, the group is not served.
type Options struct {
	// ListenAddress is host:port; with port 0 the system chooses a free port.
	ListenAddress string
	// Namespace is the namespace of the Service and of the Secret with the certificate.
	Namespace string
	// Service is the Service in front of all servers, at port 443. If it is empty, the API server must be running on
	// this machine, and a Service that points to this machine is created.
	Service string
	// Owner is the name of the ClusterRole that owns the registration. Kubernetes deletes the registration together with
	// it. If it is empty, a registration with a Service stays when the server ends.
	Owner string
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// NewHandler creates the handler of a group. The handler must reject requests that authn does not authenticate.
type NewHandler func(authn authenticator.Request, permissions *Permissions, log logr.Logger) http.Handler

// Run serves a group until ctx is done. It registers the group with the API server as soon as it can authenticate
// requests from the API server. It returns an error if it cannot start; later errors are only logged.
func Run(ctx context.Context, config *rest.Config, group Group, o Options, newHandler NewHandler) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("API %s: client: %w", group.Name, err)
	}
	kinds, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("API %s: client: %w", group.Name, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.ListenAddress)
	if err != nil {
		return fmt.Errorf("API %s: listen on %s: %w", group.Name, o.ListenAddress, err)
	}
	s := &server{
		Options: o, group: group, core: core, kinds: kinds, listener: listener, newHandler: newHandler,
		log: klog.FromContext(ctx).WithName(group.Name), at: address{namespace: o.Namespace, name: o.Service, port: 443},
	}
	secrets := core.CoreV1().Secrets(o.Namespace)
	if o.Service == "" {
		s.at.name, s.at.port, secrets = group.ServiceName, int64(listener.Addr().(*net.TCPAddr).Port), nil
	}
	s.certificate = admission.NewCertificate(secrets, group.SecretName, []string{s.at.name + "." + s.at.namespace + ".svc"}, o.Now)
	return s.serveUntilDone(ctx)
}

// server serves a group.
type server struct {
	Options
	group       Group
	core        kubernetes.Interface
	kinds       dynamic.Interface
	listener    net.Listener
	newHandler  NewHandler
	certificate *admission.Certificate
	at          address
	log         logr.Logger
}

func (s *server) serveUntilDone(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	authn, known, err := newAuthenticator(ctx, s.core)
	if err != nil {
		return errors.Join(fmt.Errorf("API %s: %w", s.group.Name, err), s.listener.Close())
	}
	serving := &http.Server{
		Handler:           s.newHandler(authn, NewPermissions(s.core.AuthorizationV1().SubjectAccessReviews(), s.Now), s.log),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(s.log), slog.LevelDebug),
		// The handler verifies the client certificate, because the API server's authority may change.
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.Get, ClientAuth: tls.RequestClientCert},
	}
	group.Go(func() error {
		if err := serving.ServeTLS(s.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("API %s: serve: %w", s.group.Name, err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		return serving.Shutdown(drain)
	})
	group.Go(func() error {
		// If the group was registered before this, requests from the API server would be rejected.
		if wait.PollUntilContextCancel(ctx, authorityPoll, true, func(context.Context) (bool, error) { return known(), nil }) == nil {
			s.maintainRegistration(ctx)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		s.log.Error(err, "The API group is no longer served")
	}
	return nil
}

// maintainRegistration keeps the certificate and the registration up to date until ctx is done. Errors are only
// logged.
func (s *server) maintainRegistration(ctx context.Context) {
	for ctx.Err() == nil {
		next, err := s.register(ctx)
		pause := min(max(next.Sub(s.Now()), time.Minute), renewalCheck)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, errOtherProgram):
			s.log.Info("Another program serves the API group", "apiservice", s.group.RegistrationName())
		default:
			s.log.Error(err, "The API group cannot be registered; trying again", "after", retryDelay)
			pause = retryDelay
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	if s.Service == "" {
		parting, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := s.group.deleteOwnRegistration(parting, s.kinds); err != nil {
			s.log.Error(err, "The API group is still registered, which blocks the deletion of namespaces; run kubectl delete apiservice "+s.group.RegistrationName())
		}
	}
}

// register registers the group with a valid certificate, and returns the time at which the certificate must be
// renewed.
func (s *server) register(ctx context.Context) (time.Time, error) {
	next, err := s.certificate.RefreshIfDue(ctx)
	if err != nil {
		return next, fmt.Errorf("certificate: %w", err)
	}
	if s.Service == "" {
		if err := ensureLocalService(ctx, s.core, s.at); err != nil {
			return next, err
		}
	}
	owners, err := ownerReferences(ctx, s.core, s.Owner)
	if err != nil {
		return next, err
	}
	return next, s.group.registerAddress(ctx, s.kinds, s.at, s.certificate.CABundle(), owners)
}
