package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/local/controlplane"
)

const busyboxImage = "docker.io/library/busybox:latest"

// shared is the cluster that the tests use.
var shared *cluster

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if missing := skipReason(); missing != "" {
		fmt.Println("test/real is skipped:", missing)
		return 0, nil
	}
	switch os.Getenv(insideVariable) {
	case "":
		return runInside()
	case roleInit:
		return runAsInit()
	}
	dir := os.Getenv(dirVariable)
	if err := errors.Join(prepareNamespaces(), checkMachine(dir)); err != nil {
		fmt.Println("test/real is skipped: this machine does not permit containers:", err)
		return 0, nil
	}
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

// binVariable names the directory of the programs and images. If it is set, they are not built again.
const binVariable = "VC_REAL_BIN"

// runInside runs the tests in new namespaces. The programs and images are built before that, because they need the
// machine's network. It removes the directory of the cluster when all processes of the cluster have ended, unless
// VC_REAL_KEEP is set.
func runInside() (int, error) {
	dir, err := os.MkdirTemp("", "vc-real-")
	if err != nil {
		return 1, err
	}
	err = os.Setenv(dirVariable, dir)
	if err == nil && os.Getenv(binVariable) == "" {
		bin := filepath.Join(dir, "bin")
		err = errors.Join(os.Setenv(binVariable, bin), buildAll(bin))
	}
	code := 1
	if err == nil {
		code, err = runInNamespaces()
	}
	isOffline := errors.As(err, new(*networkError))
	if isOffline || errors.Is(err, syscall.EPERM) {
		fmt.Println("test/real is skipped:", err)
		code, err = 0, nil
	}
	if os.Getenv("VC_REAL_KEEP") == "" {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return code, err
}

// requiredPackages maps programs that the tests call to their Debian packages.
var requiredPackages = map[string]string{
	"containerd": "containerd", "runc": "runc", "/usr/lib/cni/ptp": "containernetworking-plugins", "nft": "nftables",
	"busybox": "busybox-static", "mmdebstrap": "mmdebstrap", "mpicc": "libopenmpi-dev",
}

// skipReason returns why the tests are skipped, or "" if they run.
func skipReason() string {
	if os.Getenv("VC_REAL") == "" {
		return "run make real; it takes some minutes"
	}
	if os.Getuid() != 0 {
		return "run the tests as root"
	}
	for program, pack := range requiredPackages {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("install the package %s (apt-get install %[1]s)", pack)
		}
	}
	return ""
}

// prepareCluster writes the archives of the images, and starts a cluster with them.
func prepareCluster(ctx context.Context, dir string) (*cluster, error) {
	bin := os.Getenv(binVariable)
	archives, err := saveImages(dir, bin)
	if err != nil {
		return nil, err
	}
	return startCluster(ctx, dir, filepath.Join(bin, "kubernetes"), archives)
}

// buildAll builds the programs, and the file system of the image with Debian, into a directory. Debian is installed at
// the same time as the programs are compiled, because this mostly waits for the network and the disk.
func buildAll(bin string) error {
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	var group errgroup.Group
	group.Go(func() error { return buildDebian(bin) })
	group.Go(func() error {
		return errors.Join(buildHello(bin), downloadSources(bin), buildPrograms(bin), buildPrevious(bin))
	})
	return group.Wait()
}

// buildPrograms builds the components of Kubernetes, the images of vc, and the end-to-end tests with their programs.
func buildPrograms(bin string) error {
	flags := "-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + controlplane.Kubernetes
	components := exec.Command("go", "build", flags, "-o", bin+"/", "./kubernetes")
	pause := exec.Command("go", "build", "-o", bin+"/", "./pause")
	pause.Env = append(os.Environ(), "CGO_ENABLED=0") // its image has no libraries
	images := exec.Command("make", "-C", "../..", "images", "BIN="+bin, "VERSION="+build.Release, "IMAGES=-platforms linux/"+runtime.GOARCH)
	programs := exec.Command("make", "-C", "../..", "build", "BIN="+bin)
	scenarios := exec.Command("go", "test", "-c", "-o", filepath.Join(bin, scenarioTests), "../e2e")
	for _, command := range []*exec.Cmd{components, pause, images, programs, scenarios} {
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, output)
		}
	}
	return nil
}

// saveImages writes the images of the test to archives. It returns them and the archives of the images of vc.
func saveImages(dir, bin string) ([]string, error) {
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
	debian := filepath.Join(dir, debianFile)
	if err := saveDebian(bin, debian); err != nil {
		return nil, fmt.Errorf("image with Debian: %w", err)
	}
	if previous, ok := previousArchive(bin); ok {
		archives = append(archives, previous)
	}
	return append(archives, debian, filepath.Join(bin, "images", "vcd.tar"), filepath.Join(bin, "images", "vcctl.tar")), nil
}
