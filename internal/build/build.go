// Package build describes the running program: its version, the commit that it was built from, the build time, and the
// version of the Kubernetes libraries in it. It also names the release that the source tree belongs to, and its image.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Release is the version of the release that the source tree belongs to, or of the next release. The manifest and the
// chart install the images of this version. A release needs the git tag of the same name.
const Release = "v0.1.0"

// Registry is the prefix of the names of the images.
const Registry = "ghcr.io/vc-batch/"

// Image is the image that contains vcd and vc-step.
const Image = Registry + "vcd:" + Release

// Version, GitSHA and BuiltAt are set by the linker. hack/version.sh prints the values.
//
//	-ldflags "-X github.com/vc-batch/vc/internal/build.Version=v0.1.0 …"
//
// Missing values are taken from the build information that Go stores in the binary.
var (
	Version = ""
	GitSHA  = ""
	BuiltAt = ""
)

// Kubernetes is the version of k8s.io/client-go. If it is empty, DescribeProgram takes it from the build information.
var Kubernetes = ""

// unknown is the text for a value that is not available.
const unknown = "unknown"

// Info describes a program. Values that are not available are "unknown".
type Info struct {
	Version   string `json:"version"`
	GitSHA    string `json:"gitSHA"`
	BuiltAt   string `json:"builtAt"`
	GoVersion string `json:"goVersion"`
	// Platform is GOOS/GOARCH.
	Platform string `json:"platform"`
	// Kubernetes is the version of Kubernetes' Go libraries, such as v0.37.2 for Kubernetes 1.37.2.
	Kubernetes string `json:"kubernetes"`
}

// String returns one line for each value. The first five lines are the same as in Volcano's vcctl, because scripts
// parse them.
func (i Info) String() string {
	return fmt.Sprintf("Version: %s\nGit SHA: %s\nBuilt At: %s\nGo Version: %s\nGo OS/Arch: %s\nKubernetes Libraries: %s\n",
		i.Version, i.GitSHA, i.BuiltAt, i.GoVersion, i.Platform, i.Kubernetes)
}

// DescribeProgram describes this program.
func DescribeProgram() Info {
	i := Info{
		Version: Version, GitSHA: GitSHA, BuiltAt: BuiltAt, Kubernetes: Kubernetes,
		GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if recorded, ok := debug.ReadBuildInfo(); ok {
		i.complete(recorded)
	}
	for _, field := range []*string{&i.Version, &i.GitSHA, &i.BuiltAt, &i.Kubernetes} {
		if *field == "" {
			*field = unknown
		}
	}
	return i
}

// complete sets the empty values from the build information of Go.
func (i *Info) complete(recorded *debug.BuildInfo) {
	for _, setting := range recorded.Settings {
		switch {
		case setting.Key == "vcs.revision" && i.GitSHA == "":
			i.GitSHA = setting.Value
		case setting.Key == "vcs.time" && i.BuiltAt == "":
			i.BuiltAt = setting.Value
		}
	}
	if i.Version == "" {
		i.Version = strings.Trim(recorded.Main.Version, "()")
	}
	for _, module := range recorded.Deps {
		if module.Path == "k8s.io/client-go" && i.Kubernetes == "" {
			i.Kubernetes = module.Version
		}
	}
}
