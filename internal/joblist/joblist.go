package joblist

import (
	"context"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// Group is the API group of the lists.
var Group = aggregatedapi.Group{
	Name: jobsummary.GroupName, Version: jobsummary.Version, ServiceName: "vc-listing", SecretName: "vc-listing-certificate", Manager: "vcd",
}

// Run serves lists from a source until ctx is done. It returns an error if it cannot start; later errors are only
// logged, because clients list from the API server itself if the lists are not available.
func Run(ctx context.Context, config *rest.Config, o aggregatedapi.Options, source *Source) error {
	return aggregatedapi.Run(ctx, config, Group, o, func(authn authenticator.Request, permissions *aggregatedapi.Permissions, log logr.Logger) http.Handler {
		h := &handler{who: authn, rights: &rights{permissions}, source: source, log: log}
		return h.newRequestMux()
	})
}
