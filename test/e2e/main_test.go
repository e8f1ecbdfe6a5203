// Package e2e runs the real binaries against a real control plane, as a person would: vc-local, vcctl, vcd and
// kubectl, with pods that are processes of this machine.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/go-logr/logr"
)

// binaries is the directory of the programs under test; set by TestMain.
var binaries string

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	if testing.Short() {
		fmt.Println("e2e: skipped, they need a real API server (-short)")
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vc-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaries = dir
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	return m.Run()
}

// build links the programs from the tree as it is. With a warm cache that is seconds.
func build(dir string) error {
	args := []string{
		"build", "-o", dir,
		"github.com/vc-batch/vc/cmd/vc-local",
		"github.com/vc-batch/vc/cmd/vcctl",
		"github.com/vc-batch/vc/cmd/kubectl-vc",
		"github.com/vc-batch/vc/cmd/vcd",
		"github.com/vc-batch/vc/cmd/vc-step",
		"k8s.io/kubernetes/cmd/kubectl",
	}
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the programs under test: %w", err)
	}
	// kubectl asks this name what could follow `kubectl vc`; it is installed as a link.
	if err := os.Symlink("kubectl-vc", filepath.Join(dir, "kubectl_complete-vc")); err != nil {
		return err
	}
	return nil
}
