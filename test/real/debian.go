package real

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// debianPackages are the packages in the image with Debian: what the jobs of the scenarios run.
const debianPackages = "distcc,gcc,libc6-dev,make,openssh-client,openssh-server,openmpi-bin,python3-minimal"

// debianImages are the names of the image with Debian. The manifests of the scenarios use them. Each has a tag, so that
// the kubelet does not try to pull an image that the node has.
var debianImages = []string{
	"docker.io/library/none:local", "docker.io/library/distcc:local", "docker.io/library/example-mpi:local",
}

// debianFile is the file system of the image with Debian, as an archive.
const debianFile = "debian.tar"

// buildDebian installs Debian into an archive. Documentation and translations are left out.
func buildDebian(dir string) error {
	install := exec.Command("mmdebstrap", "--quiet", "--variant=apt", "--include="+debianPackages,
		"--aptopt=Acquire::Languages none", "--dpkgopt=force-unsafe-io",
		"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
		debianRelease(), filepath.Join(dir, debianFile))
	if output, err := install.CombinedOutput(); err != nil {
		return &networkError{fmt.Errorf("install Debian for an image: %w: %s", err, output)}
	}
	return nil
}

// networkError means that something could not be downloaded. The tests skip then.
type networkError struct{ error }

func (e *networkError) Unwrap() error { return e.error }

// debianRelease returns the name of the release that this machine runs, so that a program that was compiled here finds
// its libraries in the image.
func debianRelease() string {
	output, err := exec.Command("sh", "-c", ". /etc/os-release && echo -n $VERSION_CODENAME").Output()
	if err != nil || len(output) == 0 {
		return "stable"
	}
	return string(output)
}

// buildHello compiles the program of the MPI scenario.
func buildHello(dir string) error {
	compile := exec.Command("mpicc", "-o", filepath.Join(dir, helloProgram), filepath.Join("..", "e2e", "testdata", "mpi_hello_world.c"))
	if output, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the program of the MPI scenario: %w: %s", err, output)
	}
	return nil
}

const helloProgram = "mpi_hello_world"

// sourceDir is the directory with the sources of a C library, which a scenario compiles.
const sourceDir = "zstd"

// downloadSources downloads the sources of Zstandard, which are part of a Go module. The build list does not contain the
// module.
func downloadSources(dir string) error {
	download := exec.Command("go", "mod", "download", "-json", "github.com/DataDog/zstd@v1.5.7")
	output, err := download.Output()
	if err != nil {
		return &networkError{fmt.Errorf("download the sources of a C library: %w: %s", err, output)}
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(dir, sourceDir), os.DirFS(module.Dir))
}

// saveDebian writes the image with Debian under all of its names to an archive that `ctr images import` reads.
func saveDebian(bin, file string) error {
	base, err := tarball.LayerFromFile(filepath.Join(bin, debianFile), tarball.WithCompression(compression.None))
	if err != nil {
		return err
	}
	additions := image{files: map[string]string{
		"usr/local/bin/" + helloProgram: filepath.Join(bin, helloProgram),
		"usr/src/" + sourceDir:          filepath.Join(bin, sourceDir),
	}}
	top, err := additions.layer()
	if err != nil {
		return err
	}
	built, err := mutate.AppendLayers(empty.Image, base, top)
	if err != nil {
		return err
	}
	if built, err = configure(built, v1.Config{Cmd: []string{"/bin/sh"}}); err != nil {
		return err
	}
	tags := map[name.Tag]v1.Image{}
	for _, image := range debianImages {
		tag, err := name.NewTag(image)
		if err != nil {
			return err
		}
		tags[tag] = built
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := tarball.MultiWrite(tags, out); err != nil {
		return err
	}
	return out.Close()
}
