// Package e2e runs the real binaries with a real control plane, as a user does: vc-local, vcctl, vcd and kubectl, with
// pods that are processes of this machine.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/go-logr/logr"
)

// binaries is the directory of the programs under test: VC_E2E_BIN, or the output directory of TestMain's build.
var binaries string

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	if testing.Short() {
		fmt.Println("e2e: skipped, they need a real API server (-short)")
		os.Exit(0)
	}
	if err := selectCore(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(run(m))
}

// core lists the tests that run unless VC_E2E=all or -run selects others: one for each large part of the product, about
// a minute in total. They must also pass for a user who is not root.
var core = []string{
	"TestTheDemoShowsADistributedJobAndLeavesNothing",
	"TestScenario05AGangThatDoesNotFitWaitsWholeAndStartsWhole",
	"TestAnArrayRunsItsElementsSomeAtATime",
	"TestBadInputIsRefusedAtTheDoorWithWhatAndWhere",
	"TestWithoutVcdTheCRDStillRefusesWhatItCan",
}

// asUser lists the tests that `make test-user` adds to the core: they depend on what the kernel permits a user who is
// not root.
var asUser = []string{"TestSlurmOnProcessNodes"}

// selectCore limits the run to the core, unless the command line or the environment selects other tests.
func selectCore() error {
	named := flag.Lookup("test.run").Value.String() != ""
	if named || os.Getenv("VC_E2E") == "all" {
		return nil
	}
	selected := core
	if os.Getenv("VC_E2E") == "user" {
		selected = slices.Concat(core, asUser)
	}
	fmt.Printf("e2e: the core of %d tests; VC_E2E=all runs every one\n", len(selected))
	return flag.Set("test.run", "^("+strings.Join(selected, "|")+")$")
}

func run(m *testing.M) int {
	if built := os.Getenv("VC_E2E_BIN"); built != "" {
		binaries = built
		return m.Run()
	}
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

// build builds the programs from the current sources. With a warm cache that takes seconds.
func build(dir string) error {
	args := []string{
		"build", "-o", dir,
		"github.com/vc-batch/vc/cmd/vc-local",
		"github.com/vc-batch/vc/cmd/vcctl",
		"github.com/vc-batch/vc/cmd/kubectl-vc",
		"github.com/vc-batch/vc/cmd/vcd",
		"github.com/vc-batch/vc/cmd/vc-step",
		"github.com/vc-batch/vc/examples/wordcount",
		"k8s.io/kubernetes/cmd/kubectl",
	}
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the programs under test: %w", err)
	}
	// kubectl calls this name for the completion of `kubectl vc`. It is installed as a link.
	if err := os.Symlink("kubectl-vc", filepath.Join(dir, "kubectl_complete-vc")); err != nil {
		return err
	}
	return nil
}
