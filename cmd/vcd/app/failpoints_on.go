//go:build failpoints

package app

import (
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/test/failpoint"
)

// wrapForFailpoints makes all clients created from a configuration crash at the failpoint that the environment
// specifies.
func wrapForFailpoints(config *rest.Config) error { return failpoint.Wrap(config) }
