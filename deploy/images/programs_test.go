package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// buildFromClone builds all images from a new clone of this repository.
func buildFromClone(t *testing.T) *options {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source")
	if output, err := exec.CommandContext(t.Context(), "git", "clone", "-q", "../..", source).CombinedOutput(); err != nil {
		t.Fatalf("clone this repository: %v: %s", err, output)
	}
	o := &options{
		source:    source,
		out:       filepath.Join(t.TempDir(), "images"),
		version:   "v1.2.3",
		commit:    "0123abcd",
		ldflag:    "-X github.com/vc-batch/vc/internal/build.Version=v1.2.3",
		created:   commitTime,
		platforms: []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}},
		images:    imageSpecs,
	}
	t.Log(mustBuild(t, o))
	return o
}

// TestImagesOfVCAreReproducibleAndRun builds the images of vc in two clones, the second time with an empty build cache. Their
// bytes must be equal, and their programs must run on both architectures.
func TestImagesOfVCAreReproducibleAndRun(t *testing.T) {
	if os.Getenv("VC_IMAGES") != "full" {
		t.Skip("two builds of all programs for two architectures take half an hour: set VC_IMAGES=full and -timeout 60m")
	}
	first := buildFromClone(t)
	t.Setenv("GOCACHE", t.TempDir())
	second := buildFromClone(t)
	for _, spec := range imageSpecs {
		for _, file := range []string{spec.name + ".tar", spec.name + ".spdx.json", spec.name + "/index.json"} {
			a, errA := os.ReadFile(filepath.Join(first.out, file))
			b, errB := os.ReadFile(filepath.Join(second.out, file))
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s differs: %d and %d bytes (%v, %v)", file, len(a), len(b), errA, errB)
			}
		}
		index, _ := readIndex(t, filepath.Join(first.out, spec.name))
		for _, arch := range []string{"amd64", "arm64"} {
			t.Run(spec.name+"-"+arch, func(t *testing.T) {
				dir := t.TempDir()
				extract(t, readImage(t, index, arch), dir)
				for _, program := range spec.programs {
					command := commandFor(t, arch, filepath.Join(dir, program.path))
					command.Args = append(command.Args, "--help")
					output, err := command.CombinedOutput()
					isHelp := err == nil && strings.Contains(string(output), "Usage:")
					if !isHelp && !strings.Contains(string(output), "known commands: launch") { // vc-step has no help
						t.Errorf("%s --help: error %v, output %q", program.path, err, output)
					}
				}
			})
		}
	}
}
