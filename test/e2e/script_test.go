package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestScripts runs testdata/script/*.txtar, command lines as a user types them, on one cluster. Each script has its own
// namespace, named $NS.
func TestScripts(t *testing.T) {
	c := startClusterAlone(t, "--process-nodes", "2", "--node-cpu", "4", "--node-memory", "4Gi")
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			name := "s-" + strings.ToLower(strings.TrimPrefix(filepath.Base(env.WorkDir), "script-"))
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := c.Create(context.Background(), namespace); err != nil {
				return err
			}
			env.Setenv("NS", name)
			env.Setenv("VCCTL_NAMESPACE", name)
			env.Setenv("KUBECONFIG", c.kubeconfig)
			env.Setenv("PATH", binaries+string(os.PathListSeparator)+os.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits,
			"until": scriptUntil,
		},
	})
}

// scriptExits implements `exits CODE COMMAND…`: the command must exit with this code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if code != want {
		ts.Fatalf("%s ended with %d, want %d", strings.Join(args[1:], " "), code, want)
	}
}

// scriptUntil implements `until REGEXP COMMAND…`: the command is repeated until its output matches. The following lines
// check that output.
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if ts.Exec(args[1], args[2:]...) == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%s never prints %s", strings.Join(args[1:], " "), args[0])
}
