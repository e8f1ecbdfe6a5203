package root_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// anyText lists the flags whose values cannot be offered, because they are arbitrary.
var anyText = []string{
	"as", "as-uid", "as-group", "task", "as-user-extra", "certificate-authority", "client-certificate", "client-key", "request-timeout", "server", "proxy-url", "tls-server-name", "token", "cache-dir", "kubeconfig",
	"selector", "labels", "label-columns", "field-selector", "image", "env", "workdir", "cpu", "memory", "gpu-resource", "capability", "guarantee", "deserved",
	"job-name", "user", "container",
}

// TestEveryFlagThatHasKnownValuesOffersThem walks the tree: every flag with a value offers values, takes a file, or
// is in anyText.
func TestEveryFlagThatHasKnownValuesOffersThem(t *testing.T) {
	t.Parallel()
	tree, used := newTree("vcctl"), map[string]bool{}
	look := func(cmd *cobra.Command) func(*pflag.Flag) {
		return func(flag *pflag.Flag) {
			kind := flag.Value.Type()
			if kind != "string" && kind != "stringSlice" && kind != "stringArray" || flag.Hidden {
				return
			}
			_, offers := cmd.GetFlagCompletionFunc(flag.Name)
			_, file := flag.Annotations[cobra.BashCompFilenameExt]
			if !offers && !file && slices.Contains(anyText, flag.Name) {
				used[flag.Name] = true
				return
			}
			if !offers && !file {
				t.Errorf("%s --%s offers nothing", cmd.CommandPath(), flag.Name)
			}
		}
	}
	tree.PersistentFlags().VisitAll(look(tree))
	leaves(tree, func(cmd *cobra.Command) { cmd.LocalFlags().VisitAll(look(cmd)) })
	for _, name := range anyText {
		if !used[name] {
			t.Errorf("no flag --%s needs to be known as one that takes any text", name)
		}
	}
}

// Completion offers existing names, quickly, and not more than a user can read.
func TestCompletionIsBounded(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t)
	for i := range 700 {
		server.SetObjects(golden.NewJob("job-"+string(rune('a'+i/26%26))+string(rune('a'+i%26))+strings.Repeat("x", i/676), "default", "", 0))
	}
	got := golden.Run{Args: "__complete job view job"}.RunAgainst(t, server)
	if n := strings.Count(got.Out, "job-"); n != 500 {
		t.Errorf("%d names are offered, want 500", n)
	}
}

// bashTest prints the completions that bash would offer after the words of a command line.
const bashTest = `
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; prev=${COMP_WORDS[COMP_CWORD-1]}; }
_init_completion() { _get_comp_words_by_ref; }
compopt() { :; }
source <(vcctl completion bash)
COMP_WORDS=(vcctl "$@") COMP_CWORD=$# COMP_LINE="vcctl $*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
__start_vcctl
printf '%s\n' "${COMPREPLY[@]}"
`

// TestShellsComplete completes command lines in the installed shells with the printed completion script.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "vcctl")); err != nil { // TestMain runs vcctl under this name
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	for words, want := range map[string]string{
		"job li":                 "list",
		"job view tr":            "train",
		"queue get res":          "research",
		"job list --queue res":   "research",
		"job list --phase Compl": "Completed",
		"job list -n pr":         "",
		"job list --col":         "--color",
		"job list --color al":    "always",
	} {
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"-c", bashTest, "bash"}, strings.Fields(words)...)...)
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG="+server.WriteKubeconfig("nlp"))
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if err := cmd.Run(); err != nil || errOut.Len() > 0 {
			t.Errorf("vcctl %s: %v\n%s", words, err, errOut.String())
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("after `vcctl %s` bash offers %q, want %q", words, out.String(), want)
		}
	}
}
