//go:build !failpoints

package app

import "k8s.io/client-go/rest"

// wrapForFailpoints does nothing in this build.
func wrapForFailpoints(*rest.Config) error { return nil }
