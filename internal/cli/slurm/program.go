package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

// program describes one of Slurm's commands.
type program struct {
	// name defaults to the name of the table's program.
	name                 string
	table                *getopt.Table
	short, long, example string
	run                  func(context.Context, *call) error
}

// call is one invocation of a program.
type call struct {
	f      *cli.Factory
	table  *getopt.Table
	parsed getopt.Parsed
	// words holds all arguments after the program's name.
	words []string
	// said holds the notes that have been printed, so that -i does not repeat them.
	said map[string]bool
	// quiet suppresses notes and warnings.
	quiet bool
	// operator reports whether the user is an operator. It is nil until the API server has been asked; see
	// isOperator.
	operator *bool
}

// slurmVersion is the version of the Slurm manual that these commands follow. Programs expect it after the word
// "slurm".
const slurmVersion = "26.11.0"

// commonOptions returns the options that all programs share, including those that select the cluster. It omits the
// letters that the program uses for other options.
func commonOptions(t *getopt.Table) []getopt.Option {
	var all []getopt.Option
	add := func(o getopt.Option) {
		taken := slices.ContainsFunc(t.Options, func(other getopt.Option) bool { return other.Short == o.Short })
		if taken {
			o.Short = 0
		}
		if !t.HasOption(o.Long) {
			all = append(all, o)
		}
	}
	const help, where = "Help", "Cluster (not Slurm options)"
	add(getopt.Option{Long: "help", Short: 'h', Help: "Print this help", Group: help})
	add(getopt.Option{Long: "usage", Help: "Print a brief list of all options", Group: help})
	add(getopt.Option{Long: "version", Short: 'V', Help: "Print the version", Group: help})
	add(getopt.Option{Long: "kubeconfig", Arg: getopt.Required, Value: "FILE", Exact: true, Help: "Kubeconfig to use", Group: where})
	add(getopt.Option{Long: "context", Arg: getopt.Required, Value: "NAME", Exact: true, Help: "Context of the kubeconfig", Group: where})
	add(getopt.Option{Long: "namespace", Arg: getopt.Required, Value: "NAME", Exact: true, Help: "Namespace to work in", Group: where})
	return all
}

// newProgramCommand creates the cobra command of a program.
func newProgramCommand(f *cli.Factory, p program) *cobra.Command {
	table := p.table.WithOptions(commonOptions(p.table)...)
	cmd := &cobra.Command{
		Use:                strings.TrimSpace(cmp.Or(p.name, table.Program) + " [OPTIONS] " + table.Operands),
		Short:              p.short,
		Long:               cli.FormatHelp(p.long) + "\n\n" + strings.TrimRight(table.OptionsText(), "\n"),
		Example:            f.FormatExamples(p.example),
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			c := &call{f: f, table: table, words: words, said: map[string]bool{}}
			return c.printError(c.parseAndRun(cmd, p.run))
		},
	}
	cmd.DisableFlagsInUseLine = true
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true
	return cmd
}

// parseAndRun parses the words and runs the program, or prints the help if the words request it.
func (c *call) parseAndRun(cmd *cobra.Command, run func(context.Context, *call) error) error {
	var err error
	if c.parsed, err = c.table.ParseArguments(c.words); err != nil {
		return slurmerror.NewUsageError(c.table.Program, err)
	}
	out := c.f.Streams.Out
	switch {
	case c.parsed.Has("help"):
		return cmd.Help()
	case c.parsed.Has("usage"):
		_, err = io.WriteString(out, c.table.UsageText())
		return err
	case c.parsed.Has("version"):
		_, err = fmt.Fprintf(out, "slurm %s (vc %s)\n", slurmVersion, build.Version)
		return err
	}
	c.quiet = c.table.Program == "scontrol" && c.parsed.Has("quiet") // scancel's --quiet suppresses only some errors
	c.reportIneffective()
	c.applyConnection()
	return run(cmd.Context(), c)
}

// applyConnection passes the options that select the cluster to the factory.
func (c *call) applyConnection() {
	config := c.f.Config
	for name, field := range map[string]*string{"kubeconfig": config.KubeConfig, "context": config.Context, "namespace": config.Namespace} {
		if value, given := c.parsed.LastValue(name); given {
			*field = value
		}
	}
}

// printError prints an error in Slurm's format and returns its exit code as the error.
func (c *call) printError(err error) error {
	var status cli.ExitStatus
	if err == nil || errors.As(err, &status) && !usererror.IsJoined(err) {
		return err
	}
	code := 0
	for _, one := range usererror.Flatten(err) {
		if errors.As(one, &status) {
			code = max(code, int(status))
			continue
		}
		f := c.toSlurmError(one)
		fmt.Fprint(c.f.Streams.Err, printable.EscapeText(slurmerror.FormatText(c.table.Program, f)))
		code = max(code, f.Code)
	}
	return cli.ExitStatus(max(code, 1))
}

// toSlurmError converts an error to the error that the program prints.
func (c *call) toSlurmError(err error) *usererror.Error {
	human := *cli.HumanizeError(err, c.f.DescribeConnection())
	human.Hint = adaptHint(human.Hint)
	return &human
}

// reportIneffective reports, with -v, the specified options that have no effect. By default, it prints nothing, because
// other programs parse the output of these commands and expect only what Slurm prints.
func (c *call) reportIneffective() {
	if !c.parsed.Has("verbose") {
		return
	}
	for _, o := range c.table.Options {
		if o.NoEffect && o.Long != "verbose" && c.parsed.Has(o.Long) {
			c.printNotef("warning", "--%s has no effect here", o.Long)
		}
	}
}

// isInJob reports whether the program runs in a pod of a batch job.
func (c *call) isInJob() bool { return c.f.Streams.Env(launchconfig.EnvPod) != "" }

// printNoteOnce prints a note about data that could not be read, unless it has already been printed. In a job, it
// prints nothing, because a job intentionally has few permissions and scripts read both output streams.
func (c *call) printNoteOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.said[text] && !c.isInJob() {
		c.said[text] = true
		c.printNotef("note", "%s", text)
	}
}

// printNotef prints a line about a result that the user may not expect, such as `sbatch: note: …`.
func (c *call) printNotef(kind, format string, args ...any) {
	if c.quiet {
		return
	}
	fmt.Fprintf(c.f.Streams.Err, c.table.Program+": "+kind+": "+format+"\n", args...)
}
