// Package reference generates the command-line reference from the help texts: a Markdown page for each command and
// topic, and man pages.
//
//	In:   the command tree of internal/cli/root
//	Out:  pages by file name; the output is deterministic
//
// The flags that all commands share are on a single page, that of `vcctl options`.
package reference

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
)

// commandTree returns the whole command tree. Its texts are converted to Markdown and the shared flags are hidden.
func commandTree() *cobra.Command {
	streams, _, _ := iostreams.TestStreams("", 0)
	streams.ColorMode = "auto" // as in iostreams.SystemStreams
	cmd := root.New(cli.NewFactory("vcctl", &streams))
	cmd.InitDefaultHelpCmd()
	cmd.DisableAutoGenTag = true
	shared := cmd.PersistentFlags().FlagUsages()
	cmd.PersistentFlags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	visitCommands(cmd, func(one *cobra.Command) {
		text := one.Long
		if one.CommandPath() == "vcctl options" {
			text += "\n\n" + strings.TrimRight(shared, "\n")
		}
		one.Long = convertToMarkdown(text)
		one.Example = strings.TrimRight(one.Example, "\n")
	})
	return cmd
}

// visitCommands calls visit for each command that is not hidden, including help topics.
func visitCommands(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			visitCommands(sub, visit)
		}
	}
}

// MarkdownPages returns the Markdown pages by file name, such as vcctl_job_list.md.
func MarkdownPages() (map[string][]byte, error) {
	pages := map[string][]byte{}
	var problem error
	all := commandTree()
	visitCommands(all, func(cmd *cobra.Command) {
		var page bytes.Buffer
		if err := doc.GenMarkdown(cmd, &page); err != nil && problem == nil {
			problem = err
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md"
		if cmd == all {
			page.WriteString(topicList(all))
		}
		pages[name] = append(bytes.TrimRight(page.Bytes(), "\n"), '\n')
	})
	return pages, problem
}

// topicList lists the help topics, which belong to no command.
func topicList(all *cobra.Command) string {
	var text strings.Builder
	text.WriteString("### Topics\n\n")
	for _, sub := range all.Commands() {
		if sub.IsAdditionalHelpTopicCommand() && sub.Name() != "help" {
			path := sub.CommandPath()
			text.WriteString("* [" + sub.Name() + "](" + strings.ReplaceAll(path, " ", "_") + ".md)\t - " + sub.Short + "\n")
		}
	}
	return text.String()
}

// ManPages returns the man pages by file name, such as vcctl-job-list.1.
func ManPages(version string, made time.Time) (map[string][]byte, error) {
	pages := map[string][]byte{}
	var problem error
	visitCommands(commandTree(), func(cmd *cobra.Command) {
		var page bytes.Buffer
		header := &doc.GenManHeader{Section: "1", Source: "vc " + version, Manual: "vcctl", Date: &made}
		if err := doc.GenMan(cmd, header, &page); err != nil && problem == nil {
			problem = err
		}
		pages[strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"] = page.Bytes()
	})
	return pages, problem
}

// laidOut matches a line whose spacing matters because it is indented or has columns.
var laidOut = regexp.MustCompile(`^\s+\S|\S {2,}\S`)

// convertToMarkdown converts a help text to Markdown: it fences paragraphs whose spacing matters and escapes HTML tags
// in the others.
func convertToMarkdown(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		lines := strings.Split(paragraph, "\n")
		if slices.ContainsFunc(lines, laidOut.MatchString) {
			paragraphs[i] = "```\n" + paragraph + "\n```"
			continue
		}
		paragraphs[i] = strings.NewReplacer("<", "\\<", ">", "\\>", "*", "\\*", "_", "\\_").Replace(paragraph)
	}
	return strings.Join(paragraphs, "\n\n")
}
