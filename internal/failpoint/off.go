//go:build !failpoints

package failpoint

import "k8s.io/client-go/rest"

// Wrap does nothing in this build.
func Wrap(*rest.Config) error { return nil }
