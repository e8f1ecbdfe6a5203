package joblist

import (
	"context"
	"crypto/tls"
	"encoding/base64"
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
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/admission"
)

// SecretName is the name of the Secret that contains the certificate if the lists are behind a Service.
const SecretName = "vc-listing-certificate"

const (
	// again is the delay before a retry after an error.
	again = 10 * time.Second
	// renewalCheck is the maximum interval between checks of the certificate and the registration.
	renewalCheck = 10 * time.Minute
	// idle is how long an unused connection stays open.
	idle      = 90 * time.Second
	drainTime = 5 * time.Second
	wordPoll  = 50 * time.Millisecond
)

// Options configures the server for the lists. Without a ListenAddress, no lists are served.
type Options struct {
	// ListenAddress is host:port; with port 0 the system chooses a free port.
	ListenAddress string
	// Namespace is the namespace of the Service and of the Secret with the certificate.
	Namespace string
	// Service is the Service in front of all servers, at port 443. If it is empty, the API server must be running on
	// this machine, and a Service that points to this machine is created.
	Service string
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Run serves lists from a source until ctx is done. It registers them with the API server as soon as it can
// authenticate requests from the API server. It returns an error if it cannot start; later errors are only logged,
// because no component depends on the lists.
func Run(ctx context.Context, config *rest.Config, o Options, source *Source) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("lists: client: %w", err)
	}
	kinds, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("lists: client: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.ListenAddress)
	if err != nil {
		return fmt.Errorf("lists: listen on %s: %w", o.ListenAddress, err)
	}
	s := &server{Options: o, core: core, kinds: kinds, listener: listener, source: source, log: klog.FromContext(ctx).WithName("listing")}
	s.at = place{namespace: o.Namespace, name: o.Service, port: 443}
	shared := core.CoreV1().Secrets(o.Namespace)
	if o.Service == "" {
		s.at.name, s.at.port, shared = ServiceName, int64(listener.Addr().(*net.TCPAddr).Port), nil
	}
	s.certificate = admission.NewCertificate(shared, SecretName, []string{s.at.name + "." + s.at.namespace + ".svc"}, o.Now)
	return s.serveUntilDone(ctx)
}

// server serves lists.
type server struct {
	Options
	core        kubernetes.Interface
	kinds       dynamic.Interface
	listener    net.Listener
	source      *Source
	certificate *admission.Certificate
	at          place
	log         logr.Logger
}

func (s *server) serveUntilDone(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	who, known, err := frontProxy(ctx, s.core)
	if err != nil {
		return errors.Join(err, s.listener.Close())
	}
	h := &handler{who: who, rights: &rights{api: s.core.AuthorizationV1().SubjectAccessReviews(), now: s.Now}, source: s.source, log: s.log}
	serving := &http.Server{
		Handler: h.newRequestMux(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idle,
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(s.log), slog.LevelDebug),
		// The handler verifies the client certificate, because the API server's authority may change.
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.Get, ClientAuth: tls.RequestClientCert},
	}
	group.Go(func() error {
		if err := serving.ServeTLS(s.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("lists: serve: %w", err)
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
		// If the lists were registered before this, requests from the API server would be rejected.
		if wait.PollUntilContextCancel(ctx, wordPoll, true, func(context.Context) (bool, error) { return known(), nil }) == nil {
			s.maintainRegistration(ctx)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		s.log.Error(err, "Lists of jobs are no longer served from memory; clients use the API server")
	}
	return nil
}

// maintainRegistration keeps the certificate and the registration up to date. Errors are not fatal, because clients
// list from the API server itself if this service is not available.
func (s *server) maintainRegistration(ctx context.Context) {
	for ctx.Err() == nil {
		next, err := s.registerLists(ctx)
		pause := min(max(next.Sub(s.Now()), time.Minute), renewalCheck)
		if err != nil && ctx.Err() == nil {
			s.log.Error(err, "Lists of jobs cannot be registered; trying again", "after", again)
			pause = again
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
		if err := deleteRegistration(parting, s.kinds); err != nil {
			s.log.Error(err, "Lists of jobs are still registered, which blocks the deletion of namespaces; run kubectl delete apiservice "+Registration)
		}
	}
}

// registerLists registers the lists with a valid certificate, and returns the time at which the certificate must be
// renewed.
func (s *server) registerLists(ctx context.Context) (time.Time, error) {
	next, err := s.certificate.RefreshIfDue(ctx)
	if err != nil {
		return next, fmt.Errorf("certificate: %w", err)
	}
	if s.Service == "" {
		if err := ensureLocalService(ctx, s.core, s.at); err != nil {
			return next, err
		}
	}
	return next, registerAddress(ctx, s.kinds, s.at, s.certificate.CABundle())
}

// The ConfigMap in which the API server publishes how it forwards the names of authenticated users.
const (
	frontProxyNamespace = "kube-system"
	frontProxyName      = "extension-apiserver-authentication"
)

// frontProxy returns an authenticator that accepts the user names forwarded by the API server, and identifies the API
// server by its certificate. known reports whether the API server's configuration of the forwarding has been read.
func frontProxy(ctx context.Context, core kubernetes.Interface) (who authenticator.Request, known func() bool, err error) {
	authority, err := dynamiccertificates.NewDynamicCAFromConfigMapController("lists", frontProxyNamespace, frontProxyName, "requestheader-client-ca-file", core)
	if err != nil {
		return nil, nil, fmt.Errorf("lists: certificate authority of the API server: %w", err)
	}
	headers := headerrequest.NewRequestHeaderAuthRequestController(frontProxyName, frontProxyNamespace, core, "requestheader-username-headers",
		"requestheader-uid-headers", "requestheader-group-headers", "requestheader-extra-headers-prefix", "requestheader-allowed-names")
	go authority.Run(ctx, 1)
	go headers.Run(ctx, 1)
	known = func() bool {
		_, trusted := authority.VerifyOptions()
		return trusted && len(headers.UsernameHeaders()) > 0
	}
	who = headerrequest.NewDynamicVerifyOptionsSecure(authority.VerifyOptions,
		headerrequest.StringSliceProviderFunc(headers.AllowedClientNames), headerrequest.StringSliceProviderFunc(headers.UsernameHeaders),
		headerrequest.StringSliceProviderFunc(headers.UIDHeaders), headerrequest.StringSliceProviderFunc(headers.GroupHeaders),
		headerrequest.StringSliceProviderFunc(headers.ExtraHeaderPrefixes))
	return who, known, nil
}

func encodeBase64(pem []byte) string { return base64.StdEncoding.EncodeToString(pem) }
