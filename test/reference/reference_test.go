package reference

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const directory = "../../docs/reference"

var rewrite = flag.Bool("rewrite", false, "rewrite docs/reference")

// TestReferenceIsCurrent checks that docs/reference matches the help texts; `make docs` regenerates it.
func TestReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	pages, err := MarkdownPages()
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Glob(filepath.Join(directory, "vcctl*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if _, made := pages[filepath.Base(path)]; !made {
			if *rewrite {
				_ = os.Remove(path)
				continue
			}
			t.Errorf("%s is of a command that is not there: make docs", path)
		}
	}
	for name, page := range pages {
		path := filepath.Join(directory, name)
		if *rewrite {
			if err := os.WriteFile(path, page, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v: make docs", err)
			continue
		}
		if diff := cmp.Diff(string(text), string(page)); diff != "" {
			t.Errorf("%s is not what the help says (-file +help): make docs\n%s", path, diff)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)]+)\)`)

func TestEveryCommandHasAPageAndEveryLinkOne(t *testing.T) {
	t.Parallel()
	pages, err := MarkdownPages()
	if err != nil {
		t.Fatal(err)
	}
	visitCommands(commandTree(), func(cmd *cobra.Command) {
		if name := strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md"; pages[name] == nil {
			t.Errorf("%s has no page", cmd.CommandPath())
		}
	})
	for name, page := range pages {
		for _, found := range link.FindAllStringSubmatch(string(page), -1) {
			title, isSection := strings.CutPrefix(found[1], "#")
			isThere := pages[found[1]] != nil
			if isSection {
				isThere = bytes.Contains(page, []byte("## "+strings.ReplaceAll(title, "-", " ")+"\n"))
			}
			if !isThere {
				t.Errorf("%s leads to %s, which is not there", name, found[1])
			}
		}
		mayHaveSharedFlags := name == "vcctl_options.md" || name == daemonPageName
		if bytes.Contains(page, []byte("--kubeconfig string")) && !mayHaveSharedFlags {
			t.Errorf("%s repeats the flags of every command", name)
		}
	}
}

func TestThePageOfTheDaemonHasAllCommandsAndFlags(t *testing.T) {
	t.Parallel()
	pages, err := MarkdownPages()
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range strings.Split("\n"+string(pages[daemonPageName]), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		sections[title] = text
	}
	for _, path := range []string{"vcd scheduler", "vcd all", "vcd accounting", "vcd accounting backup", "vcd version"} {
		if sections[path] == "" {
			t.Errorf("there is no section for %q", path)
		}
	}
	visitCommands(daemonTree(), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if isShown := strings.Contains(sections[cmd.CommandPath()], "--"+flag.Name+" ") || strings.Contains(sections[cmd.CommandPath()], "--"+flag.Name+"["); isShown == flag.Hidden {
				t.Errorf("%s --%s: hidden %v, shown %v", cmd.CommandPath(), flag.Name, flag.Hidden, isShown)
			}
		})
	})
}

func TestManPagesAreReadByMan(t *testing.T) {
	t.Parallel()
	pages, err := ManPages("v1.2.3", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	page := string(pages["vcctl-job-list.1"])
	for _, want := range []string{`.TH "VCCTL-JOB-LIST" "1" "Mar 2026" "vc v1.2.3" "vcctl"`, ".SH EXAMPLE", ".SH OPTIONS", "vcctl job list -A --queue research,infer"} {
		if !strings.Contains(strings.ReplaceAll(page, `\-`, "-"), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if pages["vcctl-exit-codes.1"] == nil {
		t.Error("topics have no man pages")
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("no groff here: how the pages look was not tried")
		return
	}
	names := []string{"vcctl.1", "vcctl-job-run.1", "vcctl-options.1", "vcctl-formats.1"}
	for _, name := range names {
		check := exec.CommandContext(t.Context(), groff, "-Kutf8", "-man", "-Tutf8", "-ww", "-z")
		check.Stdin = bytes.NewReader(pages[name])
		text, err := check.CombinedOutput()
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
			return line == "" || strings.Contains(line, "can't break line") || strings.Contains(line, "cannot adjust line") || strings.Contains(line, "cannot break line")
		})
		if err != nil || len(lines) > 0 {
			t.Errorf("groff about %s: %v\n%s", name, err, strings.Join(lines, "\n"))
		}
	}
}

func TestLaidOutTextIsFenced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Plain text\nof two lines.":        "Plain text\nof two lines.",
		"A <name> of *all* my_jobs":        `A \<name\> of \*all\* my\_jobs`,
		"before\n\n0     done\n1     not":  "before\n\n```\n0     done\n1     not\n```",
		"  indented\n\nno longer":          "```\n  indented\n```\n\nno longer",
		"two sentences.  With two blanks.": "```\ntwo sentences.  With two blanks.\n```",
	} {
		if diff := cmp.Diff(want, convertToMarkdown(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
