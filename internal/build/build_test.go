package build

import (
	"regexp"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEmptyValuesComeFromTheBuildInformation(t *testing.T) {
	t.Parallel()
	recorded := &debug.BuildInfo{
		Main:     debug.Module{Version: "(devel)"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.time", Value: "2026-03-01T12:00:00Z"}, {Key: "GOARCH", Value: "arm64"}},
		Deps:     []*debug.Module{{Path: "k8s.io/api", Version: "v0.1.0"}, {Path: "k8s.io/client-go", Version: "v0.37.2"}},
	}
	for name, c := range map[string]struct{ given, want Info }{
		"all values are empty": {Info{}, Info{Version: "devel", GitSHA: "0123abcd", BuiltAt: "2026-03-01T12:00:00Z", Kubernetes: "v0.37.2"}},
		"all values are set": {
			Info{Version: "v1.2.3", GitSHA: "4567", BuiltAt: "2026-01-01T00:00:00Z", Kubernetes: "v0.36.0"},
			Info{Version: "v1.2.3", GitSHA: "4567", BuiltAt: "2026-01-01T00:00:00Z", Kubernetes: "v0.36.0"},
		},
	} {
		got := c.given
		got.complete(recorded)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReleaseIsATagOfGit(t *testing.T) {
	t.Parallel()
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(Release) {
		t.Errorf("Release %q is not vMAJOR.MINOR.PATCH", Release)
	}
}

func TestDescriptionHasAnAnswerForEveryValue(t *testing.T) {
	t.Parallel()
	i := DescribeProgram()
	for name, value := range map[string]string{"version": i.Version, "commit": i.GitSHA, "time": i.BuiltAt, "Go version": i.GoVersion, "platform": i.Platform, "Kubernetes": i.Kubernetes} {
		if value == "" {
			t.Errorf("the %s is empty", name)
		}
	}
}
