// Command images builds the container images of vc without a container engine: it compiles the programs and writes the
// images as OCI layouts. It is called by hack/images.sh, which takes the version from git.
//
//	In:   the source tree, the version, the commit and its time
//	Out:  for each image: an OCI layout, the same layout as a tar archive, and a list of its contents (SPDX)
//
// # Invariants
//
//   - The same source tree, version and Go release give the same bytes, on any machine and in any directory.
//   - An image contains no shell and no file that is not listed in imageSpecs or baseFiles. Its user is not root.
//   - An image replaces the one in the output directory only when it is complete.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/vc-batch/vc/internal/build"
)

// options holds the values of the flags.
type options struct {
	source, out             string
	version, commit, ldflag string
	created                 time.Time
	platforms               []v1.Platform
	images                  []imageSpec
}

// usageError is an error in the command line.
type usageError struct{ what, hint string }

func (e *usageError) Error() string { return e.what }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = buildImages(ctx, o, stdout, stderr)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "error:", err)
	var usage *usageError
	if !errors.As(err, &usage) {
		return 1
	}
	if usage.hint != "" {
		fmt.Fprintln(stderr, "hint: ", usage.hint)
	}
	return 2
}

// parseOptions parses and checks the command line.
func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	var created, platforms string
	set := flag.NewFlagSet("images", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintf(stderr, "Usage: go run ./deploy/images [flags] [IMAGE...]\n\nBuild the images %s, or only the given ones.\n\n", strings.Join(imageNames(), ", "))
		set.PrintDefaults()
	}
	set.StringVar(&o.source, "source", ".", "`directory` of the source tree")
	set.StringVar(&o.out, "out", "bin/images", "output `directory`")
	set.StringVar(&o.version, "version", "", "version of the images, which becomes their tag")
	set.StringVar(&o.commit, "commit", "", "commit of the source tree")
	set.StringVar(&created, "created", "", "`time` of the commit (RFC 3339), which becomes the time of all files")
	set.StringVar(&o.ldflag, "ldflags", "", "linker flags of the programs")
	set.StringVar(&platforms, "platforms", "linux/amd64,linux/arm64", "comma-separated platforms")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, &usageError{what: err.Error()}
	}
	var err error
	if o.created, err = time.Parse(time.RFC3339, created); err != nil {
		return nil, &usageError{fmt.Sprintf("-created %q is not a time", created), "build in a git repository with hack/images.sh, or use a time like 2026-03-01T12:00:00Z"}
	}
	o.created = o.created.UTC()
	if o.platforms, err = parsePlatforms(platforms); err != nil {
		return nil, err
	}
	if o.images, err = selectImages(set.Args()); err != nil {
		return nil, err
	}
	return o, checkVersion(o.version)
}

// tag matches the tags that an image may have.
var tag = regexp.MustCompile(`^[0-9A-Za-z_][0-9A-Za-z_.-]{0,127}$`)

// releaseVersion matches the version of a release.
var releaseVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// checkVersion checks that the version is a valid tag. The version of a release must be the one that the manifest
// installs.
func checkVersion(version string) error {
	if !tag.MatchString(version) {
		return &usageError{fmt.Sprintf("-version %q is not a valid tag of an image", version), "use letters, digits, '.', '_' and '-', for example v0.1.0"}
	}
	if releaseVersion.MatchString(version) && version != build.Release {
		return &usageError{
			fmt.Sprintf("the version is %s, but deploy/install.yaml installs %s", version, build.Image),
			"set Release in internal/build/build.go to " + version + ", run make generate, and move the git tag to that commit",
		}
	}
	return nil
}

// parsePlatforms parses a comma-separated list of platforms.
func parsePlatforms(list string) ([]v1.Platform, error) {
	var platforms []v1.Platform
	for name := range strings.SplitSeq(list, ",") {
		goos, arch, _ := strings.Cut(strings.TrimSpace(name), "/")
		if goos != "linux" || (arch != "amd64" && arch != "arm64") {
			return nil, &usageError{fmt.Sprintf("-platforms: unknown platform %q", name), "use linux/amd64, linux/arm64 or both, separated by a comma"}
		}
		p := v1.Platform{OS: goos, Architecture: arch}
		if slices.ContainsFunc(platforms, p.Equals) {
			return nil, &usageError{fmt.Sprintf("-platforms: %s is given twice", name), ""}
		}
		platforms = append(platforms, p)
	}
	slices.SortFunc(platforms, func(a, b v1.Platform) int { return strings.Compare(a.Architecture, b.Architecture) })
	return platforms, nil
}

// selectImages returns the images with the given names, or all images if there are no names.
func selectImages(names []string) ([]imageSpec, error) {
	if len(names) == 0 {
		return imageSpecs, nil
	}
	var selected []imageSpec
	for _, name := range names {
		i := slices.IndexFunc(imageSpecs, func(s imageSpec) bool { return s.name == name })
		if i < 0 {
			return nil, &usageError{fmt.Sprintf("unknown image %q", name), "the images are " + strings.Join(imageNames(), ", ")}
		}
		selected = append(selected, imageSpecs[i])
	}
	return selected, nil
}

// buildImages compiles the programs and writes the images. It prints one line for each image to stdout, and its progress
// to stderr.
func buildImages(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "vc-images-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	programs, err := compile(ctx, o, dir, stderr)
	if err != nil {
		return err
	}
	licences, err := newLicenceFinder(ctx, o.source)
	if err != nil {
		return err
	}
	for _, spec := range o.images {
		fmt.Fprintf(stderr, "images: write %s\n", spec.name)
		index, err := newIndex(o, spec, programs)
		if err != nil {
			return fmt.Errorf("image %s: %w", spec.name, err)
		}
		sbom, err := newSBOM(o, spec, index, programs, licences)
		if err != nil {
			return fmt.Errorf("contents of image %s: %w", spec.name, err)
		}
		if err := writeImage(o, spec, index, sbom); err != nil {
			return fmt.Errorf("write image %s: %w", spec.name, err)
		}
		if err := printImage(stdout, o, spec, index); err != nil {
			return err
		}
	}
	return nil
}
