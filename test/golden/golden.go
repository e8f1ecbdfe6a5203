// Package golden tests the output of commands. It runs command lines of the whole command tree in this process
// against an in-memory API server, and compares their output with text files.
//
//	In:   command lines, a cluster (Cluster), changes to it (Run.Prepare)
//	Out:  testdata/<name>.txt of the package under test, written with -rewrite
//
// Every command is run in five ways (Every): on terminals with 80 and 120 columns, into a pipe, with -o json, and
// with an error. A test in internal/cli/root walks the command tree and finds commands without these runs.
package golden

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/test/clitest"
)

// The flag rewrite rewrites the golden files of a package: go test ./internal/cli/queue -rewrite.
var rewrite = flag.Bool("rewrite", false, "rewrite the goldens")

// Now is the current time in all golden files.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// All golden files use the same program version.
func init() {
	build.Version, build.GitSHA, build.BuiltAt, build.Kubernetes = "v0.1.0", "0123abcd", "2026-03-01T12:00:00Z", "v0.37.0"
}

// Run is a command line with its environment.
type Run struct {
	// About is a sentence about the run.
	About string
	// Args is split at spaces; use Argv for arguments with spaces.
	Args string
	Argv []string
	// Width makes the output a terminal with the given number of columns; 0 means a pipe.
	Width int
	Color bool
	// Input is the content of standard input.
	Input string
	Env   map[string]string
	// Prepare changes the cluster before the run.
	Prepare func(*clitest.Server)
	// Check inspects the cluster after the run.
	Check func(*testing.T, *clitest.Server)
	// Report is true if the command prints its result even though its exit code is that of an error.
	Report bool
	// NoCluster is true if the command is run without a kubeconfig.
	NoCluster bool
	// Editor returns the text as the user has changed it in an editor; nil leaves the text unchanged.
	Editor func(text string) string
	// ShowOpened adds the texts with which the editor was opened to the golden file.
	ShowOpened bool
}

// Result is the output of a command and its exit code.
type Result struct {
	Out, Err string
	Code     int
	// Opened holds the texts with which the editor was opened, each below a heading.
	Opened string
}

// Command describes a command that RunsForCommands runs in five ways.
type Command struct {
	// Args is a valid command line, such as "queue get research".
	Args string
	// Wrong is a command line that fails, such as "queue get reserch".
	Wrong string
	// NoJSON is true for commands that do not support -o json.
	NoJSON bool
	// Input, Prepare and Report are the same as the fields of Run.
	Input   string
	Prepare func(*clitest.Server)
	Report  bool
	// WrongPrepare changes the cluster before Wrong is run; nil uses Prepare.
	WrongPrepare func(*clitest.Server)
	// Editor is the same as the field of Run.
	Editor func(text string) string
}

// RunsForCommands returns the five runs for each command.
func RunsForCommands(commands ...Command) []Run {
	var runs []Run
	for _, c := range commands {
		run := func(about, args string, width int) {
			runs = append(runs, Run{About: about, Args: args, Width: width, Input: c.Input, Prepare: c.Prepare, Report: c.Report, Editor: c.Editor})
		}
		run("a terminal of 80 columns", c.Args, 80)
		run("a terminal of 120 columns", c.Args, 120)
		run("into a pipe", c.Args, 0)
		if !c.NoJSON {
			words, command, dashes := strings.Cut(c.Args, " -- ")
			args := words + " -o json"
			if dashes {
				args += " -- " + command
			}
			run("for programs", args, 0)
		}
		before := c.WrongPrepare
		if before == nil {
			before = c.Prepare
		}
		runs = append(runs, Run{About: "an error", Args: c.Wrong, Input: c.Input, Prepare: before})
	}
	return runs
}

func (r Run) commandLine() []string {
	if r.Argv != nil {
		return r.Argv
	}
	return strings.Fields(r.Args)
}

// editedCopy matches the path of a file that the edit commands create. Its name ends with a random number.
var editedCopy = regexp.MustCompile(`\S*/(vcctl-edit-\S+-)\d+\.yaml`)

// RunAgainst runs the command line against the server.
func (r Run) RunAgainst(t testing.TB, server *clitest.Server) Result {
	t.Helper()
	streams, out, errOut := iostreams.TestStreams(r.Input, r.Width)
	streams.Env = func(name string) string { return r.Env[name] }
	streams.Environ = r.sortedEnvironment
	if r.Color {
		streams.ColorMode = "always"
	}
	opened := ""
	if r.Editor != nil {
		streams.RunEditor = EditorWith(func(text string) string {
			opened += "--- opened in the editor\n" + text
			return r.Editor(text)
		})
	}
	args := r.commandLine()
	if !r.NoCluster {
		args = append([]string{"--kubeconfig", server.WriteKubeconfig("nlp")}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	code := root.Run(ctx, newFactory(t, &streams), args)
	clean := func(text *bytes.Buffer) string {
		plain := strings.NewReplacer(server.URL(), "http://server", runtime.Version(), "go1.x", runtime.GOOS+"/"+runtime.GOARCH, "linux/amd64").Replace(text.String())
		return editedCopy.ReplaceAllString(plain, "/tmp/${1}0.yaml")
	}
	return Result{clean(out), clean(errOut), code, opened}
}

// EditorWith returns an editor that applies change to the text of a file.
func EditorWith(change func(text string) string) func(command, path string) error {
	return func(_, path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(change(string(text))), 0o600)
	}
}

// sortedEnvironment returns Env sorted, in the format of a program's environment.
func (r Run) sortedEnvironment() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		all = append(all, name+"="+r.Env[name])
	}
	return all
}

// newFactory returns a factory with the golden clock and a separate cache.
func newFactory(t testing.TB, streams *iostreams.Streams) *cli.Factory {
	f := cli.NewFactory("vcctl", streams)
	f.Now = func() time.Time { return Now }
	cache := t.TempDir()
	f.Config.CacheDir = &cache
	return f
}

// formatBlock returns the text that represents a run in a golden file.
func (r Run) formatBlock(got Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", r.About)
	line := "$ vcctl " + strings.Join(quoteArguments(r.commandLine()), " ")
	if r.Width > 0 {
		line += fmt.Sprintf("    (terminal of %d columns)", r.Width)
	}
	b.WriteString(line + "\n")
	if r.ShowOpened {
		b.WriteString(got.Opened)
		b.WriteString("--- stdout\n")
	}
	b.WriteString(strings.ReplaceAll(got.Out, "\x1b", "^["))
	if got.Err != "" {
		b.WriteString("--- stderr\n" + got.Err)
	}
	if got.Code != 0 {
		fmt.Fprintf(&b, "--- exit %d\n", got.Code)
	}
	return b.String() + "\n"
}

func quoteArguments(args []string) []string {
	all := make([]string, len(args))
	for i, arg := range args {
		if all[i] = arg; strings.ContainsAny(arg, " '$") {
			all[i] = "'" + arg + "'"
		}
	}
	return all
}

func (r Result) hasFailed() bool { return r.Code != 0 && r.Code != cli.ExitPending }

// printsResultOnFailure reports whether a failing run may print a result, for example if only some objects are missing.
func (r Run) printsResultOnFailure() bool {
	return r.Report || slices.Contains(strings.Fields(r.About), "some")
}

// CompareRuns executes all runs, each against its own cluster, and compares their output with testdata/<name>.txt.
func CompareRuns(t *testing.T, name string, runs []Run) {
	t.Helper()
	var text strings.Builder
	for _, r := range runs {
		server := clitest.Start(t, ClusterObjects()...)
		AddLogs(server)
		if r.Prepare != nil {
			r.Prepare(server)
		}
		got := r.RunAgainst(t, server)
		text.WriteString(r.formatBlock(got))
		if got.hasFailed() && !r.printsResultOnFailure() && strings.TrimSpace(got.Out) != "" {
			t.Errorf("%s: it fails and prints a result: %q", r.About, got.Out)
		}
		if r.Check != nil {
			r.Check(t, server)
		}
	}
	path := filepath.Join("testdata", name+".txt")
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
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
		t.Errorf("%s (-want +got), go test -rewrite rewrites it:\n%s", path, diff)
	}
}

// CheckStored returns a check that the server contains want objects below a path.
func CheckStored(path string, want int) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		if got := server.ObjectsBelow(path); len(got) != want {
			t.Errorf("%s holds %d objects, want %d: %v", path, len(got), want, got)
		}
	}
}

// FieldText returns the value at a path within an object as text. A number in the path is an index into a list.
func FieldText(object any, path ...string) string {
	for _, step := range path {
		switch at := object.(type) {
		case map[string]any:
			object = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at) {
				return ""
			}
			object = at[i]
		}
	}
	if object == nil {
		return ""
	}
	return fmt.Sprint(object)
}

// JobsPath is the path below which the fake API server stores the jobs of the namespace nlp.
const JobsPath = "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs"

// CheckJobField checks a field of a job in the namespace nlp.
func CheckJobField(name, want string, path ...string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, s *clitest.Server) {
		t.Helper()
		for _, object := range s.ObjectsBelow(JobsPath) {
			if object["metadata"].(map[string]any)["name"] == name {
				if got := FieldText(object, path...); got != want {
					t.Errorf("%s of job %s is %q, want %q", strings.Join(path, "."), name, got, want)
				}
				return
			}
		}
		t.Errorf("there is no job %s", name)
	}
}
