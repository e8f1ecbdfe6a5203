package controlplane

import (
	"strings"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// Kubernetes' own build sets these version variables by linker flags, which a library cannot do. Without them,
// clients that compare versions would see v0.0.0.

//go:linkname stampedVersion k8s.io/component-base/version.gitVersion
var stampedVersion string

//go:linkname stampedMajor k8s.io/component-base/version.gitMajor
var stampedMajor string

//go:linkname stampedMinor k8s.io/component-base/version.gitMinor
var stampedMinor string

// Kubernetes is the version of the Kubernetes code in this program. A test compares it with go.mod.
const Kubernetes = "v1.37.2"

// stampVersion sets the version that the API server reports to clients.
func stampVersion() error {
	parts := strings.SplitN(strings.TrimPrefix(Kubernetes, "v"), ".", 3)
	stampedVersion, stampedMajor, stampedMinor = Kubernetes, parts[0], parts[1]
	return version.SetDynamicVersion(Kubernetes)
}
