package root_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// convention is the row of one command in the table of conventions.
type convention struct {
	path    string
	aliases []string
	marks   string // the letters of the marked columns
}

// verbs are the marks of the verbs in the row that only lists "list/get/…".
var verbs = map[string]string{"list": "owAlc", "get": "owAlc", "view": "owAlc", "create": "ofd", "delete": "oAlfdyc"}

// exempt lists marks that do not apply to one of several commands in a row, with the reason.
var exempt = map[string]string{
	"queue get d":    "it changes nothing",
	"queue get W":    "there is nothing to wait for",
	"queue get y":    "it changes nothing",
	"queue create l": "what is created is not there to be selected",
	"queue create y": "a new queue takes nothing from anybody that a question could save",
	"queue create c": "a new name is not there yet",
	"completion o":   "it prints a script",
	"options o":      "it prints flags, as kubectl options does",
	"top w":          "the table says live: the screen itself",
	"job run c":      "a new name is not there yet; its flags complete",
	"plan c":         "it takes files; its flags complete",
	"diff c":         "the same",
}

// readConventions parses the table of conventions in the specification.
func readConventions(t *testing.T) []convention {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "conventions.md"))
	if err != nil {
		t.Fatal(err)
	}
	const letters = "owAlfdWyc"
	span := regexp.MustCompile("`[^`]*`")
	var all []convention
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "¦"), "|")
		marks := ""
		for i, letter := range letters {
			if strings.TrimSpace(cells[2+i]) != "" {
				marks += string(letter)
			}
		}
		title, inside, _ := strings.Cut(cells[1], "(")
		var aliases []string
		for _, alias := range span.FindAllString(inside, -1) {
			aliases = append(aliases, strings.Trim(alias, "`"))
		}
		for _, pattern := range span.FindAllString(title, -1) {
			for _, path := range expand(strings.Trim(pattern, "`")) {
				one := convention{path, aliases, marks}
				if _, verb, _ := strings.Cut(path, " "); strings.Contains(pattern, "…") && strings.Contains(pattern, "/get") {
					one.marks = verbs[verb]
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// expand returns the command paths of a pattern such as "job attach¦exec NAME [-t T] -- CMD". Words in capitals,
// brackets and dashes are not part of the path.
func expand(pattern string) []string {
	paths := []string{""}
	for _, word := range strings.Fields(pattern) {
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "[") || strings.ToLower(word) != word {
			break
		}
		choices := strings.Split(word, "¦")
		if strings.Contains(word, "/…") {
			choices = []string{"list", "get", "view", "create", "delete"}
		}
		var longer []string
		for _, path := range paths {
			for _, choice := range choices {
				longer = append(longer, strings.TrimSpace(path+" "+choice))
			}
		}
		paths = longer
	}
	return paths
}

// sample returns the arguments that a command needs besides the flag under test, from the golden cluster.
func sample(path string) []string {
	noun, verb, _ := strings.Cut(path, " ")
	words := strings.Fields(path)
	switch {
	case noun == "slurm":
		return append(words, "--dir", ".")
	case path == "queue create" || path == "job run":
		return append(words, "new")
	case path == "queue update":
		return append(words, "research", "--weight=2")
	case verb == "create" || path == "plan":
		return append(words, "-f", "-")
	case verb == "list" || verb == "tree" || verb == "hypernodes" || noun == "events" || noun == "top" || path == "config check":
		return words
	case noun == "job":
		words = append(words, "train")
	case noun == "queue":
		words = append(words, "research")
	case verb != "":
		words = append(words, "some")
	}
	return words
}

// TestTheTreeKeepsTheConventions checks every command of the tree against testdata/conventions.md, a copy of the
// specification's table: each marked flag exists with its letter and works as in all other commands.
func TestTheTreeKeepsTheConventions(t *testing.T) {
	t.Parallel()
	table := readConventions(t)
	if len(table) < 50 {
		t.Fatalf("the table has %d commands: it is not read right", len(table))
	}
	tree := newTree("vcctl")
	used := map[string]bool{}
	for _, row := range table {
		cmd, _, err := tree.Find(strings.Fields(row.path))
		there := err == nil && cmd.CommandPath() == "vcctl "+row.path
		if !there {
			t.Errorf("there is no `vcctl %s`", row.path)
			continue
		}
		for _, alias := range row.aliases {
			parent, _, _ := strings.Cut(row.path, " ")
			if other, _, err := tree.Find([]string{parent, alias}); err != nil || other != cmd {
				t.Errorf("%s does not answer to %s", row.path, alias)
			}
		}
		for _, mark := range row.marks {
			key := row.path + " " + string(mark)
			if why := exempt[key]; why != "" {
				used[key] = true
				if keepsAtAll(cmd, mark) {
					t.Errorf("%s is exempt (%s), but the command has it", key, why)
				}
				continue
			}
			if problem := keeps[mark](t, cmd, row); problem != "" {
				t.Errorf("%s: %s", row.path, problem)
			}
		}
	}
	for key, why := range exempt {
		if why != "" && !used[key] {
			t.Errorf("%s is exempt and in no row", key)
		}
	}
}

// keeps maps the letter of a column to a check, which returns the violation of the convention or "".
var keeps = map[rune]func(*testing.T, *cobra.Command, convention) string{
	'o': keepsFormats, 'w': keepsWatch, 'A': keepsNamespaces, 'l': keepsSelector, 'f': keepsFiles,
	'd': keepsDryRun, 'W': keepsWait, 'y': keepsConfirm, 'c': keepsCompletion,
}

// keepsAtAll reports whether a command has the feature of a mark in any form.
func keepsAtAll(cmd *cobra.Command, mark rune) bool {
	names := map[rune]string{'o': "output", 'w': "watch", 'A': "all-namespaces", 'l': "selector", 'f': "filename", 'd': "dry-run", 'W': "wait", 'y': "yes"}
	if mark == 'c' {
		return cmd.ValidArgsFunction != nil && strings.Contains(cmd.Use, "NAME")
	}
	return cmd.Flags().Lookup(names[mark]) != nil
}

// flag checks that a flag exists with its letter; it returns the violation or "".
func flag(cmd *cobra.Command, name, letter string) string {
	found := cmd.Flag(name)
	switch {
	case found == nil:
		return "there is no --" + name
	case found.Shorthand != letter:
		return "--" + name + " is not -" + letter
	}
	return ""
}

// says runs a command line and returns a problem unless the command fails with the text want.
func says(t *testing.T, args []string, want string) string {
	t.Helper()
	server := clitest.Start(t, golden.ClusterObjects()...)
	if i := slices.Index(args, "exec"); i == 1 {
		args = append(args, "--", "true")
	}
	got := golden.Run{Argv: args, Input: golden.JobFile}.RunAgainst(t, server)
	code := cli.ExitError
	if args[0] == "diff" {
		code = cli.ExitDiffError
	}
	if got.Code != code || !strings.Contains(got.Err, want) || got.Out != "" {
		return "`vcctl " + strings.Join(args, " ") + "` does not fail with " + want + ", but with: " + got.Err + got.Out
	}
	return ""
}

func first(problems ...string) string {
	for _, problem := range problems {
		if problem != "" {
			return problem
		}
	}
	return ""
}

func keepsFormats(t *testing.T, cmd *cobra.Command, row convention) string {
	if problem := flag(cmd, "output", "o"); problem != "" {
		return problem
	}
	offered := complete(t, append(sample(row.path), "-o", "")...)
	if !slices.Contains(offered, "json") || !slices.Contains(offered, "yaml") {
		return "-o offers " + strings.Join(offered, " ")
	}
	return says(t, append(sample(row.path), "-o", "jsno"), `unknown output format "jsno"`)
}

// keepsWatch watches an object of the golden cluster: the command must list or read it, then watch it and continue.
func keepsWatch(t *testing.T, cmd *cobra.Command, row convention) string {
	if problem := flag(cmd, "watch", "w"); problem != "" || slices.Contains(sample(row.path), "some") || row.path == "job explain" {
		return problem // train runs, so there is no reason to wait
	}
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, done := golden.Start(t, server, append(sample(row.path), "-w")...)
	watches := func(query string) bool { return strings.Contains(query, "watch=") }
	for !slices.ContainsFunc(server.Queries(), watches) {
		select {
		case code := <-done:
			return fmt.Sprintf("-w ends with %d and watches nothing: %s", code, out)
		case <-time.After(time.Millisecond):
		}
	}
	if code := stop(); code != cli.ExitInterrupted {
		return fmt.Sprintf("-w ends with %d when it is interrupted: %s", code, out)
	}
	return ""
}

func keepsNamespaces(_ *testing.T, cmd *cobra.Command, row convention) string {
	if problem := flag(cmd, "namespace", "n"); problem != "" {
		return problem
	}
	if cmd.Flag("namespace") != cmd.Root().PersistentFlags().Lookup("namespace") {
		return "-n is not the namespace of all commands"
	}
	if strings.ContainsAny(row.marks, "wl") {
		return flag(cmd, "all-namespaces", "A")
	}
	return ""
}

func keepsSelector(t *testing.T, cmd *cobra.Command, row convention) string {
	name := "selector"
	if row.path == "job list" {
		name = "labels" // in Volcano's vcctl, --selector is a part of the name
	}
	if problem := flag(cmd, name, "l"); problem != "" {
		return problem
	}
	if !strings.Contains(cmd.Use, "NAME") {
		return "it takes no names"
	}
	args := append(strings.Fields(row.path), "-l", "a b")
	if row.path == "queue update" {
		args = append(args, "--weight=2")
	}
	return says(t, args, `label selector "a b"`)
}

func keepsFiles(t *testing.T, cmd *cobra.Command, row convention) string {
	return first(flag(cmd, "filename", "f"), flag(cmd, "recursive", "R"), flag(cmd, "kustomize", "k"),
		says(t, append(strings.Fields(row.path), "-k", "/nosuch"), `kustomization "/nosuch": no such file or directory`),
		says(t, append(strings.Fields(row.path), "-f", "/nosuch.yaml"), `file "/nosuch.yaml": no such file or directory`))
}

func keepsDryRun(t *testing.T, cmd *cobra.Command, row convention) string {
	if problem := flag(cmd, "dry-run", ""); problem != "" {
		return problem
	}
	if cmd.Flag("dry-run").NoOptDefVal != "client" {
		return "--dry-run alone is not --dry-run=client"
	}
	return says(t, append(sample(row.path), "--dry-run=perhaps"), `--dry-run: unknown value "perhaps"`)
}

func keepsWait(_ *testing.T, cmd *cobra.Command, row convention) string {
	if strings.HasSuffix(row.path, " wait") {
		return flag(cmd, "timeout", "")
	}
	return first(flag(cmd, "wait", ""), flag(cmd, "timeout", ""))
}

func keepsConfirm(_ *testing.T, cmd *cobra.Command, _ convention) string {
	return flag(cmd, "yes", "y")
}

// keepsCompletion requests completions of the names, which must be names in the cluster.
func keepsCompletion(t *testing.T, cmd *cobra.Command, row convention) string {
	if strings.Contains(cmd.Use, "NAME") && cmd.ValidArgsFunction == nil {
		return "it completes no live names"
	}
	live := map[string]string{"job": "train", "queue": "research", "node": "192.168.23.24"}
	noun, verb, _ := strings.Cut(row.path, " ")
	if want := live[noun]; verb != "hypernodes" && want != "" && strings.Contains(cmd.Use, "NAME") {
		if offered := complete(t, append(strings.Fields(row.path), "")...); !slices.Contains(offered, want) {
			return "what could follow is " + strings.Join(offered, " ")
		}
	}
	return ""
}

// complete returns the completions that a shell would offer after these words.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	server := clitest.Start(t, golden.ClusterObjects()...)
	got := golden.Run{Argv: append([]string{"__complete"}, words...)}.RunAgainst(t, server)
	var offered []string
	for line := range strings.Lines(got.Out) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if !strings.HasPrefix(word, ":") {
			offered = append(offered, strings.TrimSuffix(word, "="))
		}
	}
	return offered
}
