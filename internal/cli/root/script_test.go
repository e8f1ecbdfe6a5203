package root_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/internal/cli/volcanocli"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// TestMain makes this binary run as vcctl and kubectl-vc in the scripts.
func TestMain(m *testing.M) {
	as := func(program string) func() {
		return func() {
			os.Exit(root.Main(context.Background(), program, os.Args[1:], iostreams.SystemStreams()))
		}
	}
	programs := map[string]func(){}
	for _, name := range append([]string{"vcctl", "kubectl-vc", "kubectl_complete-vc"}, volcanocli.Programs...) {
		programs[name] = as(name)
	}
	testscript.Main(m, programs)
}

// TestScripts runs testdata/script/*.txtar: command lines of the real program in its own process, against an
// in-memory API server with the golden cluster. $SILENT is the address of a server that accepts connections and never
// answers.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			server := clitest.Start(t, golden.ClusterObjects()...)
			golden.AddLogs(server)
			silent, err := silence(env)
			if err != nil {
				return err
			}
			env.Values["server"] = server
			env.Setenv("KUBECONFIG", server.WriteKubeconfig("nlp"))
			env.Setenv("SILENT", silent)
			env.Setenv("URL", server.URL())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scriptExits, "refuse": scriptRefuse, "within": scriptWithin,
			"message": scriptMessage, "narrow": scriptNarrow},
	})
}

// silence starts a server that never answers.
func silence(env *testscript.Env) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	env.Defer(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String(), nil
}

// scriptExits implements `exits CODE COMMAND…`: the command exits with exactly this code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s ended with %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// scriptRefuse implements `refuse METHOD PATH CODE MESSAGE…`: from now on the server rejects these requests.
func scriptRefuse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: refuse METHOD PATH CODE MESSAGE...")
	}
	code, err := strconv.Atoi(args[2])
	ts.Check(err)
	reasons := map[int]metav1.StatusReason{http.StatusUnauthorized: metav1.StatusReasonUnauthorized, http.StatusForbidden: metav1.StatusReasonForbidden}
	ts.Value("server").(*clitest.Server).RejectRequests(args[0], args[1], code, reasons[code], strings.Join(args[3:], " "))
}

// scriptWithin implements `within DURATION CODE COMMAND…`: like exits, but with a time limit.
func scriptWithin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: within DURATION CODE COMMAND...")
	}
	most, err := time.ParseDuration(args[0])
	ts.Check(err)
	began := time.Now()
	scriptExits(ts, false, args[1:])
	if took := time.Since(began); took > most {
		ts.Fatalf("%s took %s, want %s at most", strings.Join(args[2:], " "), took, most)
	}
}

// scriptMessage implements `message JOB TEXT`: it replaces the explanation of a job in the golden cluster.
func scriptMessage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: message JOB TEXT")
	}
	server := ts.Value("server").(*clitest.Server)
	for _, object := range golden.ClusterObjects() {
		if group, ok := object.(*schedulingv1beta1.PodGroup); ok && strings.HasPrefix(group.Name, args[0]+"-") {
			group.Status.Explanation.Message = args[1]
			server.SetObjects(group)
		}
	}
}

// scriptNarrow implements `narrow COLUMNS`: no line that the last command printed is wider than that.
func scriptNarrow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: narrow COLUMNS")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if line = strings.TrimRight(line, "\r\n"); render.Width(line) > most {
			ts.Fatalf("%d cells wide: %s", render.Width(line), line)
		}
	}
}
