package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/local/controlplane"
)

const (
	pauseImage   = "localhost/pause:1"
	busyboxImage = "docker.io/library/busybox:latest"
)

// shared is the cluster that the tests use.
var shared *cluster

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if missing := missingPrograms(); missing != "" {
		fmt.Println("test/real is skipped:", missing)
		return 0, nil
	}
	if !isInside() {
		return runInside()
	}
	if err := prepareNamespaces(); err != nil {
		return 1, err
	}
	dir := os.Getenv(dirVariable)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	if shared, err = prepareCluster(ctx, dir); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// dirVariable names the directory of the cluster.
const dirVariable = "VC_REAL_DIR"

// runInside runs the tests in new namespaces. It removes the directory of the cluster when all processes of the cluster
// have ended, unless VC_REAL_KEEP is set.
func runInside() (int, error) {
	dir, err := os.MkdirTemp("", "vc-real-")
	if err != nil {
		return 1, err
	}
	if err := os.Setenv(dirVariable, dir); err != nil {
		return 1, err
	}
	code, err := runInNamespaces()
	if os.Getenv("VC_REAL_KEEP") == "" {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return code, err
}

// missingPrograms says what keeps the tests from running on this machine. It returns "" if nothing does.
func missingPrograms() string {
	if os.Getenv("VC_REAL") == "" {
		return "make real runs it, because it takes some minutes"
	}
	if os.Getuid() != 0 {
		return "it needs root"
	}
	for program, pack := range map[string]string{"containerd": "containerd", "runc": "runc", "nft": "nftables", "/usr/lib/cni/bridge": "containernetworking-plugins", "busybox": "busybox-static"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("it needs the package %s", pack)
		}
	}
	return ""
}

// prepareCluster builds the programs and images, and starts a cluster with them.
func prepareCluster(ctx context.Context, dir string) (*cluster, error) {
	bin := os.Getenv("VC_REAL_BIN")
	if bin == "" {
		bin = filepath.Join(dir, "bin")
		if err := buildPrograms(bin); err != nil {
			return nil, err
		}
	}
	archives, err := buildImages(dir, bin)
	if err != nil {
		return nil, err
	}
	return startCluster(ctx, dir, filepath.Join(bin, "kubernetes"), archives)
}

// buildPrograms builds the components of Kubernetes, and the image of vc, into a directory.
func buildPrograms(bin string) error {
	flags := "-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + controlplane.Kubernetes
	components := exec.Command("go", "build", flags, "-o", bin+"/", "./kubernetes")
	if output, err := components.CombinedOutput(); err != nil {
		return fmt.Errorf("build the components of Kubernetes: %w: %s", err, output)
	}
	pause := exec.Command("go", "build", "-o", bin+"/", "./pause")
	pause.Env = append(os.Environ(), "CGO_ENABLED=0") // its image has no libraries
	if output, err := pause.CombinedOutput(); err != nil {
		return fmt.Errorf("build pause: %w: %s", err, output)
	}
	image := exec.Command("make", "-C", "../..", "images", "BIN="+bin, "VERSION="+build.Release, "IMAGES=-platforms linux/"+runtime.GOARCH+" vcd")
	if output, err := image.CombinedOutput(); err != nil {
		return fmt.Errorf("build the image of vc: %w: %s", err, output)
	}
	return nil
}

func buildImages(dir, bin string) ([]string, error) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	images := map[string]image{
		"pause.tar":   {name: pauseImage, entrypoint: []string{"/pause"}, files: map[string]string{"pause": filepath.Join(bin, "pause")}},
		"busybox.tar": {name: busyboxImage, files: map[string]string{"bin/busybox": busybox}, links: appletLinks(busybox)},
	}
	var archives []string
	for file, i := range images {
		archive := filepath.Join(dir, file)
		if err := i.save(archive); err != nil {
			return nil, fmt.Errorf("image %s: %w", i.name, err)
		}
		archives = append(archives, archive)
	}
	return append(archives, filepath.Join(bin, "images", "vcd.tar")), nil
}
