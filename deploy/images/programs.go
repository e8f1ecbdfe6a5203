package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// binary identifies a compiled program.
type binary struct {
	pkg, arch string
}

// programFiles maps each compiled program to its file.
type programFiles map[binary]string

// compile compiles the programs of all images for all platforms, below dir.
func compile(ctx context.Context, o *options, dir string, stderr io.Writer) (programFiles, error) {
	var packages []string
	for _, spec := range o.images {
		for _, p := range spec.programs {
			if !slices.Contains(packages, p.pkg) {
				packages = append(packages, p.pkg)
			}
		}
	}
	files := programFiles{}
	for _, platform := range o.platforms {
		fmt.Fprintf(stderr, "images: compile %s for %s\n", strings.Join(packages, " "), platform)
		to := filepath.Join(dir, platform.Architecture)
		if err := os.Mkdir(to, 0o755); err != nil {
			return nil, err
		}
		if err := compileFor(ctx, o, platform, packages, to, stderr); err != nil {
			return nil, err
		}
		for _, pkg := range packages {
			files[binary{pkg, platform.Architecture}] = filepath.Join(to, path.Base(pkg))
		}
	}
	return files, nil
}

// compileFor compiles packages for one platform into the directory to. The programs must not depend on the machine, so
// their compiler flags come from here alone, and they contain neither directories nor build IDs.
func compileFor(ctx context.Context, o *options, platform v1.Platform, packages []string, to string, stderr io.Writer) error {
	ldflags := strings.TrimSpace("-s -w -buildid= " + o.ldflag)
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", to + "/"}, packages...)
	cmd := exec.CommandContext(ctx, goCommand(), args...)
	cmd.Dir = o.source
	cmd.Stderr = stderr
	cmd.Env = append(os.Environ(),
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off",
		"GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build for %s: %w", platform, err)
	}
	return nil
}

// goCommand returns the name of the go command.
func goCommand() string {
	if name := os.Getenv("GO"); name != "" {
		return name
	}
	return "go"
}

// describe returns what Go recorded in a compiled program.
func (f programFiles) describe(b binary) (*buildinfo.BuildInfo, error) {
	info, err := buildinfo.ReadFile(f[b])
	if err != nil {
		return nil, fmt.Errorf("%s for %s: %w", b.pkg, b.arch, err)
	}
	return info, nil
}
