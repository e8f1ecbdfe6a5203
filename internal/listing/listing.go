package listing

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

// SecretName is the Secret with the certificate when the lists are behind a Service.
const SecretName = "vc-listing-certificate"

const (
	// again is how long is waited after something went wrong.
	again = 10 * time.Second
	// renewalCheck is the longest time between two looks at certificate and registration.
	renewalCheck = 10 * time.Minute
	// idle is how long a connection may stay open that nobody uses.
	idle      = 90 * time.Second
	drainTime = 5 * time.Second
	wordPoll  = 50 * time.Millisecond
)

// Options say where lists are served; without a ListenAddress they are not.
type Options struct {
	// ListenAddress is host:port; port 0 takes a free one.
	ListenAddress string
	// Namespace of the Service and of the Secret with the certificate.
	Namespace string
	// Service in front of this server and of others like it, at port 443. Empty: the API server runs on this machine and is led here.
	Service string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Run serves lists from a source until ctx ends, and tells the API server of them as soon as they can be answered. It returns an error when it cannot begin;
// what goes wrong later is logged, for nobody depends on lists.
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
	return s.run(ctx)
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

func (s *server) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	who, known, err := frontProxy(ctx, s.core)
	if err != nil {
		return errors.Join(err, s.listener.Close())
	}
	h := &handler{who: who, rights: &rights{api: s.core.AuthorizationV1().SubjectAccessReviews(), now: s.Now}, source: s.source, log: s.log}
	serving := &http.Server{
		Handler: h.routes(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idle,
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(s.log), slog.LevelDebug),
		// Whose certificate it is is looked at with the request: the API server's authority may change.
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
		// Before its word is known, the API server would be told that lists are there and get none.
		if wait.PollUntilContextCancel(ctx, wordPoll, true, func(context.Context) (bool, error) { return known(), nil }) == nil {
			s.maintain(ctx)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		s.log.Error(err, "Lists of jobs are served no more; who lists them asks the API server")
	}
	return nil
}

// maintain keeps certificate and registration up to date; without them lists are read from the API server itself, so that no error ends anything.
func (s *server) maintain(ctx context.Context) {
	for ctx.Err() == nil {
		next, err := s.announce(ctx)
		pause := min(max(next.Sub(s.Now()), time.Minute), renewalCheck)
		if err != nil && ctx.Err() == nil {
			s.log.Error(err, "Lists of jobs cannot be announced, trying again", "after", again)
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
		if err := withdraw(parting, s.kinds); err != nil {
			s.log.Error(err, "Lists of jobs stay announced, and with them no namespace is deleted: kubectl delete apiservice "+Registration)
		}
	}
}

// announce registers the lists under a certificate that is valid, and says when that is to be renewed.
func (s *server) announce(ctx context.Context) (time.Time, error) {
	next, err := s.certificate.Refresh(ctx)
	if err != nil {
		return next, fmt.Errorf("certificate: %w", err)
	}
	if s.Service == "" {
		if err := leadHere(ctx, s.core, s.at); err != nil {
			return next, err
		}
	}
	return next, register(ctx, s.kinds, s.at, s.certificate.CABundle())
}

// The ConfigMap in which the API server says how it hands on whom it has authenticated.
const (
	frontProxyNamespace = "kube-system"
	frontProxyName      = "extension-apiserver-authentication"
)

// frontProxy knows users by the word of the API server, whom it knows by its certificate; known says whether it has been read how the API server says that.
func frontProxy(ctx context.Context, core kubernetes.Interface) (who authenticator.Request, known func() bool, err error) {
	authority, err := dynamiccertificates.NewDynamicCAFromConfigMapController("lists", frontProxyNamespace, frontProxyName, "requestheader-client-ca-file", core)
	if err != nil {
		return nil, nil, fmt.Errorf("lists: authority of the API server: %w", err)
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

func encoded(pem []byte) string { return base64.StdEncoding.EncodeToString(pem) }
