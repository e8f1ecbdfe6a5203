package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestOnlyTemporaryErrorsMeanThatTheServerIsUnavailable(t *testing.T) {
	t.Parallel()
	// sent returns an error in the form that client-go returns.
	sent := func(err error) error { return &url.Error{Op: "Get", URL: "https://api:6443/apis", Err: err} }
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                    {nil, false},
		"connection refused":          {refused, true},
		"server is starting":          {apierrors.NewServiceUnavailable("starting"), true},
		"server is overloaded":        {apierrors.NewTooManyRequests("later", 1), true},
		"resource version is too old": {apierrors.NewResourceExpired("gone"), false},
		"forbidden":                   {apierrors.NewForbidden(schema.GroupResource{}, "", nil), false},
		"unknown error":               {errors.New("odd"), false},
		"request is refused":          {sent(refused), true},
		"connection is closed":        {sent(io.EOF), true},
		"connection breaks":           {fmt.Errorf("create configuration: %w", sent(io.ErrUnexpectedEOF)), true},
		"server shuts down":           {sent(errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=7")), true},
		"connection is lost":          {sent(errors.New("http2: client connection lost")), true},
		"timeout":                     {sent(context.DeadlineExceeded), true},
		"name service is unavailable": {sent(&net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}), true},
		"unknown host":                {sent(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), false},
		"certificate of another host": {sent(&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "api"}}), false},
		"unknown authority":           {sent(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), false},
		"client certificate rejected": {sent(&net.OpError{Op: "remote error", Err: tls.AlertError(42)}), false},
		"server without TLS":          {sent(tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}), false},
	} {
		if got := IsUnavailable(test.err); got != test.want {
			t.Errorf("%s: %v, want %v: %v", name, got, test.want, test.err)
		}
	}
}
