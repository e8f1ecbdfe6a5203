package controlplane

import (
	"strings"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// Kubernetes' own build stamps its version into these variables with linker
// flags. Ours cannot, for a library does not choose its linker's flags, and
// clients that compare versions would be told v0.0.0.

//go:linkname stampedVersion k8s.io/component-base/version.gitVersion
var stampedVersion string

//go:linkname stampedMajor k8s.io/component-base/version.gitMajor
var stampedMajor string

//go:linkname stampedMinor k8s.io/component-base/version.gitMinor
var stampedMinor string

// Kubernetes is the version of Kubernetes that is linked in; a test compares
// it with go.mod.
const Kubernetes = "v1.36.3"

// stampVersion tells clients which version it is.
func stampVersion() error {
	parts := strings.SplitN(strings.TrimPrefix(Kubernetes, "v"), ".", 3)
	stampedVersion, stampedMajor, stampedMinor = Kubernetes, parts[0], parts[1]
	return version.SetDynamicVersion(Kubernetes)
}
