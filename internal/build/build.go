// Package build describes the running program: its version, the commit that it was built from, and the build time.
package build

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Version, GitSHA and BuiltAt are set by the linker:
//
//	-ldflags "-X github.com/vc-batch/vc/internal/build.Version=v0.1.0 …"
//
// Missing values are taken from the build information that Go stores in the binary.
var (
	Version = ""
	GitSHA  = ""
	BuiltAt = ""
)

// Info describes a program. Values that are not available are "unknown".
type Info struct {
	Version   string `json:"version"`
	GitSHA    string `json:"gitSHA"`
	BuiltAt   string `json:"builtAt"`
	GoVersion string `json:"goVersion"`
	// Platform is GOOS/GOARCH.
	Platform string `json:"platform"`
}

// DescribeProgram describes this program.
func DescribeProgram() Info {
	i := Info{Version: Version, GitSHA: GitSHA, BuiltAt: BuiltAt, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if recorded, ok := debug.ReadBuildInfo(); ok {
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
	}
	for _, field := range []*string{&i.Version, &i.GitSHA, &i.BuiltAt} {
		if *field == "" {
			*field = "unknown"
		}
	}
	return i
}
