package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// releaseConfig contains the fields of goreleaser's configuration that depend on our source tree, or on rules of krew.
type releaseConfig struct {
	Builds []struct {
		ID      string   `json:"id"`
		Main    string   `json:"main"`
		Env     []string `json:"env"`
		Flags   []string `json:"flags"`
		LDFlags []string `json:"ldflags"`
		Targets []string `json:"targets"`
	} `json:"builds"`
	Archives []struct {
		ID    string   `json:"id"`
		IDs   []string `json:"ids"`
		Files []struct {
			Src string `json:"src"`
		} `json:"files"`
	} `json:"archives"`
	Krews []struct {
		Name             string   `json:"name"`
		IDs              []string `json:"ids"`
		ShortDescription string   `json:"short_description"`
		Description      string   `json:"description"`
		Homepage         string   `json:"homepage"`
	} `json:"krews"`
}

func readReleaseConfig(t *testing.T) releaseConfig {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config releaseConfig
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 2 || len(config.Archives) != 2 || len(config.Krews) != 1 {
		t.Fatalf("%d builds, %d archives and %d krew manifests", len(config.Builds), len(config.Archives), len(config.Krews))
	}
	return config
}

// TestReleaseSetsTheSameVariablesAsOtherBuilds compares the linker flags with those of hack/version.sh.
func TestReleaseSetsTheSameVariablesAsOtherBuilds(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), filepath.Join("..", "hack", "version.sh")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, build := range readReleaseConfig(t).Builds {
		flags := strings.Join(build.LDFlags, " ")
		for _, variable := range []string{"Version", "GitSHA", "BuiltAt"} {
			set := "-X github.com/vc-batch/vc/internal/build." + variable + "="
			if !strings.Contains(string(out), set) || !strings.Contains(flags, set) {
				t.Errorf("%s: hack/version.sh or .goreleaser.yaml does not set %s:\n%s\n%s", build.ID, variable, out, flags)
			}
		}
		if _, err := os.Stat(filepath.Join("..", build.Main)); err != nil {
			t.Errorf("%s: %v", build.ID, err)
		}
		if !strings.Contains(strings.Join(build.Flags, " "), "-trimpath") || strings.Join(build.Env, " ") != "CGO_ENABLED=0" || len(build.Targets) != 5 {
			t.Errorf("%s: flags %v, environment %v, targets %v", build.ID, build.Flags, build.Env, build.Targets)
		}
	}
}

func TestVersionOfTheEnvironmentReplacesThatOfGit(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"v9.8.7": "version=v9.8.7\n", "v1 2": "", "v1$(id)": ""} {
		script := exec.CommandContext(t.Context(), filepath.Join("..", "hack", "version.sh"))
		script.Env = append(os.Environ(), "VERSION="+version)
		out, err := script.Output()
		if (err == nil) != (want != "") || !strings.HasPrefix(string(out), want) || (err != nil && len(out) > 0) {
			t.Errorf("VERSION=%q: error %v, output %q", version, err, out)
		}
	}
}

func TestReleaseHasTheLicenceInEveryArchive(t *testing.T) {
	t.Parallel()
	for _, archive := range readReleaseConfig(t).Archives {
		if len(archive.Files) != 1 || archive.Files[0].Src != "LICENSE" || len(archive.IDs) != 1 || archive.IDs[0] != archive.ID {
			t.Errorf("archive %s holds programs %v and files %v", archive.ID, archive.IDs, archive.Files)
		}
	}
}

// TestKrewManifestFollowsTheRulesOfTheIndex checks what krew's index rejects.
func TestKrewManifestFollowsTheRulesOfTheIndex(t *testing.T) {
	t.Parallel()
	plugin := readReleaseConfig(t).Krews[0]
	if plugin.Name != "volcano" || len(plugin.IDs) != 1 || plugin.IDs[0] != "kubectl-vc" {
		t.Errorf("plugin %s installs %v", plugin.Name, plugin.IDs)
	}
	if length := len(plugin.ShortDescription); length == 0 || length > 50 || strings.Contains(plugin.ShortDescription, "\n") {
		t.Errorf("the short description has %d characters; krew permits a line of 50", length)
	}
	if plugin.Description == "" || !strings.HasPrefix(plugin.Homepage, "https://") {
		t.Error("the description or the home page is missing")
	}
}
