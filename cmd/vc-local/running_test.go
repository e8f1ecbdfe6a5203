package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/nodespec"
)

func TestUpNamesTheFlagsThatARunningClusterIgnores(t *testing.T) {
	dir := local.Dir(filepath.Join(t.TempDir(), "state"))
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(string(dir) + "/lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	// The parent process of this test runs as long as the test.
	writeFile(t, string(dir)+"/run.json", fmt.Sprintf(`{"pid": %d, "ready": true, "kubeconfig": "/kc"}`, os.Getppid()))

	cases := map[string]struct{ args, want string }{
		"none":              {"--detach", ""},
		"some of all kinds": {"--port=1 --components=api --scheduler-conf=/none --kubeconfig=/x --simulated-start=5s --ephemeral", "warning: these flags have no effect on a running cluster: --components, --ephemeral, --kubeconfig, --port, --scheduler-conf, --simulated-start (stop it first with vc-local down)\n"},
		"nodes":             {"--detach --node-cpu=3 --port=0", "warning: these flags have no effect on a running cluster: --node-cpu, --port (stop it first with vc-local down, or change its nodes with vc-local nodes)\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := runCommand(t.Context(), append([]string{"up", "--dir", string(dir)}, strings.Fields(c.args)...), &out, &errOut)
			note, warning, _ := strings.Cut(errOut.String(), "\n")
			if code != exitOK || out.String() != "export KUBECONFIG=/kc\n" || !strings.Contains(note, "is already running") {
				t.Errorf("exit %d\nstdout %q\nstderr %q", code, out.String(), errOut.String())
			}
			if diff := cmp.Diff(c.want, warning); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestNodesToAddAreInOneOrder(t *testing.T) {
	for range 50 {
		specs, err := readSpecsToAdd(newNodesAdd(), "", "", 1, 2, nodeFlags{})
		if err != nil || len(specs) != 2 || specs[0].Kind != nodespec.KindProcess || specs[1].Kind != nodespec.KindSimulated {
			t.Fatalf("%+v, %v", specs, err)
		}
		_, err = readSpecsToAdd(newNodesAdd(), "", "", 1, 0, nodeFlags{cpu: "many", memory: "much"})
		if err == nil || !strings.HasPrefix(err.Error(), "--cpu: ") {
			t.Fatalf("of two bad quantities: %v", err)
		}
	}
}
