package aggregatedapi

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
)

// The ConfigMap in which the API server publishes how it forwards the names of authenticated users.
const (
	frontProxyNamespace = "kube-system"
	frontProxyName      = "extension-apiserver-authentication"
)

// newAuthenticator returns an authenticator that accepts the user names forwarded by the API server, and identifies the
// API server by its certificate. known reports whether the API server's configuration of the forwarding has been read.
func newAuthenticator(ctx context.Context, core kubernetes.Interface) (authn authenticator.Request, known func() bool, err error) {
	authority, err := dynamiccertificates.NewDynamicCAFromConfigMapController("front-proxy", frontProxyNamespace, frontProxyName, "requestheader-client-ca-file", core)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate authority of the API server: %w", err)
	}
	headers := headerrequest.NewRequestHeaderAuthRequestController(frontProxyName, frontProxyNamespace, core, "requestheader-username-headers",
		"requestheader-uid-headers", "requestheader-group-headers", "requestheader-extra-headers-prefix", "requestheader-allowed-names")
	go authority.Run(ctx, 1)
	go headers.Run(ctx, 1)
	known = func() bool {
		_, trusted := authority.VerifyOptions()
		return trusted && len(headers.UsernameHeaders()) > 0
	}
	authn = headerrequest.NewDynamicVerifyOptionsSecure(authority.VerifyOptions,
		headerrequest.StringSliceProviderFunc(headers.AllowedClientNames), headerrequest.StringSliceProviderFunc(headers.UsernameHeaders),
		headerrequest.StringSliceProviderFunc(headers.UIDHeaders), headerrequest.StringSliceProviderFunc(headers.GroupHeaders),
		headerrequest.StringSliceProviderFunc(headers.ExtraHeaderPrefixes))
	return authn, known, nil
}
