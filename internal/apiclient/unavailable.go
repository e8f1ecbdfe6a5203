package apiclient

import (
	"crypto/tls"
	"errors"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// IsUnavailable reports whether an error means that the API server is temporarily unavailable, because there was no
// connection, or because the server is starting or overloaded. It
// returns false for permanent errors, such as an invalid certificate or an unknown host name.
func IsUnavailable(err error) bool {
	if apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) {
		return true
	}
	if request := (*url.Error)(nil); errors.As(err, &request) {
		err = request.Err // url.Error implements net.Error for every error that it wraps
	}
	if lookup := (*net.DNSError)(nil); errors.As(err, &lookup) {
		return !lookup.IsNotFound
	}
	if alert := tls.AlertError(0); errors.As(err, &alert) {
		return false
	}
	var broken net.Error
	switch {
	case errors.As(err, &broken), utilnet.IsConnectionReset(err), utilnet.IsConnectionRefused(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err):
		return true
	}
	return false
}
