package root

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/iostreams"
)

// go test ./internal/cli/root -rewrite writes the goldens anew.
var rewrite = flag.Bool("rewrite", false, "write the goldens anew")

// run is one command line and how it is run.
type run struct {
	// about is a sentence.
	about string
	// args is split at blanks; use argv for arguments with blanks.
	args  string
	argv  []string
	width int
	color bool
	input string
	env   map[string]string
	// prepare may change the cluster before.
	prepare func(*clitest.Server)
	// check looks at the cluster afterwards.
	check func(*testing.T, *clitest.Server)
	// report: the answer is a report, which is printed although the exit code is that of an error.
	report bool
	// noCluster runs without a kubeconfig.
	noCluster bool
}

// now is the moment at which all goldens are taken.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type result struct {
	out, err string
	code     int
}

func (r run) argvOf() []string {
	if r.argv != nil {
		return r.argv
	}
	return strings.Fields(r.args)
}

func (r run) do(t *testing.T, server *clitest.Server) result {
	t.Helper()
	streams, out, errOut := iostreams.Test(r.input, r.width)
	streams.Env = func(name string) string { return r.env[name] }
	if r.color {
		streams.ColorMode = "always"
	}
	f := cli.NewFactory("vcctl", &streams)
	f.Now = func() time.Time { return now }
	cache := t.TempDir()
	f.Config.CacheDir = &cache
	args := r.argvOf()
	if !r.noCluster {
		args = append([]string{"--kubeconfig", server.Kubeconfig("nlp")}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	code := Run(ctx, f, args)
	clean := func(text *bytes.Buffer) string {
		return strings.ReplaceAll(text.String(), server.URL(), "http://server")
	}
	return result{clean(out), clean(errOut), code}
}

// block is how a run is written into a golden file.
func (r run) block(got result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", r.about)
	line := "$ vcctl " + strings.Join(quoted(r.argvOf()), " ")
	if r.width > 0 {
		line += fmt.Sprintf("    (terminal of %d columns)", r.width)
	}
	b.WriteString(line + "\n")
	b.WriteString(strings.ReplaceAll(got.out, "\x1b", "^["))
	if got.err != "" {
		b.WriteString("--- stderr\n" + got.err)
	}
	if got.code != 0 {
		fmt.Fprintf(&b, "--- exit %d\n", got.code)
	}
	return b.String() + "\n"
}

func quoted(args []string) []string {
	all := make([]string, len(args))
	for i, arg := range args {
		if all[i] = arg; strings.ContainsAny(arg, " '$") {
			all[i] = "'" + arg + "'"
		}
	}
	return all
}

// golden runs all and holds what they print against testdata/<name>.txt.
func golden(t *testing.T, name string, runs []run) {
	t.Helper()
	var text strings.Builder
	for _, r := range runs {
		server := clitest.Start(t, cluster()...)
		logs(server)
		if r.prepare != nil {
			r.prepare(server)
		}
		got := r.do(t, server)
		text.WriteString(r.block(got))
		if got.code != 0 && got.code != cli.ExitPending && !r.report && strings.TrimSpace(got.out) != "" && !strings.Contains(r.about, "some") {
			t.Errorf("%s: it fails and prints a result: %q", r.about, got.out)
		}
		if r.check != nil {
			r.check(t, server)
		}
	}
	path := filepath.Join("testdata", name+".txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("%s (-want +got), go test -rewrite writes it anew:\n%s", path, diff)
	}
}
