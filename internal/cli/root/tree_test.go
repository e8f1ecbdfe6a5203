package root_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
)

func newTree(program string) *cobra.Command {
	streams, _, _ := iostreams.TestStreams("", 0)
	return root.New(cli.NewFactory(program, &streams))
}

// leaves calls visit for every command that is not a group.
func leaves(cmd *cobra.Command, visit func(*cobra.Command)) {
	for _, sub := range cmd.Commands() {
		if sub.IsAdditionalHelpTopicCommand() || sub.Name() == "help" {
			continue
		}
		if !sub.HasSubCommands() {
			visit(sub)
		}
		leaves(sub, visit)
	}
}

// exampleLines returns the lines of a command's examples without indentation, with each command joined to one line.
func exampleLines(cmd *cobra.Command) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(cmd.Example, " \\\n", " "), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// examplesOf returns the command lines in a command's examples, as words.
func examplesOf(cmd *cobra.Command) [][]string {
	var lines [][]string
	for _, line := range exampleLines(cmd) {
		at := strings.Index(line, "vcctl ")
		if at < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		for command := range strings.SplitSeq(line[at:], " && ") {
			text, isOurs := strings.CutPrefix(command, "vcctl ")
			if !isOurs {
				continue
			}
			text, _, _ = strings.Cut(text, " >")
			text, _, _ = strings.Cut(text, " | ")
			lines = append(lines, words(strings.TrimSuffix(strings.TrimSpace(text), ")")))
		}
	}
	return lines
}

// before matches what may come before the program in an example.
var before = regexp.MustCompile(`^(?:cat \S+ \| |watch |[A-Z_]+=\S+ |source <\()?vcctl( |$)`)

// unrunnable describes why an example line is neither a comment nor a command that users can copy; "" if it is valid.
func unrunnable(tree *cobra.Command, line string) string {
	comment, isComment := strings.CutPrefix(line, "# ")
	if !isComment {
		if before.MatchString(line) {
			return ""
		}
		return "it is neither a comment nor a command of vcctl"
	}
	for _, rest := range strings.Split(comment, "vcctl ")[1:] {
		word, _, _ := strings.Cut(rest, " ")
		if found, _, err := tree.Find([]string{word}); err == nil && found != tree {
			return "a command stands in a comment: nobody runs it"
		}
	}
	return ""
}

// Users can copy the examples from help, and TestExamplesRun runs them all, so no command is hidden in a comment or
// cut off.
func TestExamplesAreCommentsAndCommands(t *testing.T) {
	t.Parallel()
	tree := newTree("vcctl")
	hold := func(cmd *cobra.Command) {
		for _, line := range exampleLines(cmd) {
			if why := unrunnable(tree, line); why != "" {
				t.Errorf("%s --help: %q: %s", cmd.CommandPath(), line, why)
			}
		}
	}
	hold(tree)
	leaves(tree, hold)
	for line, fine := range map[string]bool{
		"# Three pods vcctl job run hello --image": false, "busybox --replicas 3": false, "--wait -- python train.py": false,
		"# The table in the format of Volcano's vcctl": true, "cat job.yaml | vcctl job run -f -": true,
	} {
		if why := unrunnable(tree, line); (why == "") != fine {
			t.Errorf("%q: %q", line, why)
		}
	}
}

// words splits a line like a shell, including quotes.
func words(line string) []string {
	var all []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open || word.Len() > 0 {
				all = append(all, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
		}
	}
	return all
}

func TestEveryCommandHasHelpAndExamples(t *testing.T) {
	t.Parallel()
	leaves(newTree("vcctl"), func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Long == "" {
			t.Errorf("%s has no short or no long help", cmd.CommandPath())
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short help ends with a full stop", cmd.CommandPath())
		}
		if n := len(examplesOf(cmd)); n < 2 {
			t.Errorf("%s has %d examples, want 2 at least", cmd.CommandPath(), n)
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s --%s has no usage", cmd.CommandPath(), flag.Name)
			}
		})
	})
}

// The root accepts kubectl's global flags; TestTheTreeKeepsTheConventions covers the flags of each command.
func TestTheRootTakesKubectlsFlags(t *testing.T) {
	t.Parallel()
	tree := newTree("vcctl")
	for _, flag := range []string{"kubeconfig", "context", "cluster", "user", "namespace", "server", "as", "as-group", "token", "request-timeout", "color"} {
		if tree.PersistentFlags().Lookup(flag) == nil {
			t.Errorf("the root has no --%s", flag)
		}
	}
}

func TestPluginShowsItselfAsKubectlVC(t *testing.T) {
	t.Parallel()
	streams, out, errOut := iostreams.TestStreams("", 0)
	f := cli.NewFactory("kubectl vc", &streams)
	if code := root.Run(t.Context(), f, []string{"job", "list", "--help"}); code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	for _, want := range []string{"kubectl vc job list [NAME...]", "  kubectl vc job list -A"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help has no %q:\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "  vcctl ") {
		t.Errorf("help speaks of vcctl:\n%s", out)
	}
	root.Run(t.Context(), f, []string{"job", "lits"})
	if want := `for "kubectl vc job"`; !strings.Contains(errOut.String(), want) {
		t.Errorf("error has no %q: %s", want, errOut)
	}
}

func TestProgramName(t *testing.T) {
	t.Parallel()
	for argv0, want := range map[string]string{
		"/usr/bin/vcctl": "vcctl", "/home/x/bin/kubectl-vc": "kubectl vc", "kubectl-my_batch": "kubectl my-batch", "renamed": "vcctl",
	} {
		if got := root.ProgramName(argv0); got != want {
			t.Errorf("root.ProgramName(%q) = %q, want %q", argv0, got, want)
		}
	}
}

// Help needs no kubeconfig, no home directory and no cluster, and is fast.
func TestHelpNeedsNothing(t *testing.T) {
	start := processorTime(t)
	leaves(newTree("vcctl"), func(cmd *cobra.Command) {
		streams, out, errOut := iostreams.TestStreams("", 0)
		f := cli.NewFactory("vcctl", &streams)
		missing := "/nosuch/kubeconfig"
		f.Config.KubeConfig = &missing
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if code := root.Run(t.Context(), f, args); code != 0 || !strings.Contains(out.String(), "Usage:") {
			t.Errorf("vcctl %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errOut)
		}
	})
	if took := processorTime(t) - start; took > 2*time.Second {
		t.Errorf("all help texts took %s of processor time", took)
	}
}

// processorTime returns the CPU time that this process has used so far, independent of other load on the machine.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestCompletionScriptsAreShellScripts(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	streams, out, _ := iostreams.TestStreams("", 0)
	if code := root.Run(t.Context(), cli.NewFactory("vcctl", &streams), []string{"completion", "bash"}); code != 0 {
		t.Fatalf("exit %d", code)
	}
	check := exec.CommandContext(t.Context(), bash, "-n")
	check.Stdin = bytes.NewReader(out.Bytes())
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("bash -n: %v\n%s", err, text)
	}
}
