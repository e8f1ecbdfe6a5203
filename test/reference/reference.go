// Package reference generates the command-line reference from the help texts: a Markdown page and a man page for each command
// and topic of vcctl, and one Markdown page for vcd.
//
//	In:   the command trees of internal/cli/root and cmd/vcd/app
//	Out:  pages by file name; the output is deterministic
//
// The flags that all commands of vcctl share are on a single page, that of `vcctl options`.
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

	"github.com/vc-batch/vc/cmd/vcd/app"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
)

// daemonPageName is the file name of the page of vcd.
const daemonPageName = "vcd.md"

// commandTree returns the whole command tree of vcctl. Its texts are converted to Markdown and the shared flags are hidden.
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

// daemonTree returns the command tree of vcd. Its texts are converted to Markdown.
func daemonTree() *cobra.Command {
	cmd := app.NewCommand()
	cmd.DisableAutoGenTag = true
	visitCommands(cmd, func(one *cobra.Command) { one.Long = convertToMarkdown(one.Long) })
	return cmd
}

// daemonPage returns the page of vcd, with a section for each command. It is one page, because an operator runs several of
// these commands and searches the flags of all.
func daemonPage() ([]byte, error) {
	var page bytes.Buffer
	var problem error
	visitCommands(daemonTree(), func(cmd *cobra.Command) {
		if err := doc.GenMarkdownCustom(cmd, &page, linkToSection); err != nil && problem == nil {
			problem = err
		}
	})
	return append(bytes.TrimRight(page.Bytes(), "\n"), '\n'), problem
}

// linkToSection returns the link to the section of a command, whose page would have the given name.
func linkToSection(name string) string {
	return "#" + strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "_", "-")
}

// MarkdownPages returns the Markdown pages by file name, such as vcctl_job_list.md.
func MarkdownPages() (map[string][]byte, error) {
	ofDaemon, problem := daemonPage()
	pages := map[string][]byte{daemonPageName: ofDaemon}
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
