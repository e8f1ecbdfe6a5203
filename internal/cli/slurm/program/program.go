// Package program runs one invocation of a Slurm command. It implements everything that all commands have in common:
// parsing options, printing errors and notes, and repeating a command for several clusters.
//
//	In:   a command line in Slurm's syntax, environment, kubeconfig
//	Out:  a cobra command for each Program, a Call for its Run function
//
// # Concurrency
//
//   - InClustersParallel runs a copy of the Call for each cluster. The copies share only data that does not change.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/cmdutil"
	"github.com/vc-batch/vc/internal/usererror"
)

// Program describes one of Slurm's commands.
type Program struct {
	// Name defaults to the name of the table's program.
	Name                 string
	Table                *getopt.Table
	Short, Long, Example string
	Run                  func(context.Context, *Call) error
	// Complete returns the words that shell completion offers after the operands of a command line. It may be nil.
	Complete func(f *cli.Factory, operands []string, prefix string) []string
}

// Call is one invocation of a program.
type Call struct {
	Factory *cli.Factory
	Table   *getopt.Table
	Parsed  getopt.Parsed
	// Words holds all arguments after the program's name.
	Words []string
	// printedNotes holds the notes that have been printed, so that -i does not repeat them.
	printedNotes map[string]bool
	// quiet suppresses notes and warnings.
	quiet bool
}

// SlurmVersion is the version of the Slurm manual that these commands follow.
const SlurmVersion = cmdutil.SlurmVersion

// connectionOptions lists the options of all programs that select the cluster.
var connectionOptions = []getopt.Option{
	{Long: "kubeconfig", Arg: getopt.Required, Value: "FILE", Exact: true, Help: "Kubeconfig to use", Group: connectionGroup},
	{Long: "context", Arg: getopt.Required, Value: "NAME", Exact: true, Help: "Kubeconfig context to use", Group: connectionGroup},
	{Long: "namespace", Arg: getopt.Required, Value: "NAME", Exact: true, Help: "Namespace to use", Group: connectionGroup},
}

const connectionGroup = "Cluster (not Slurm options)"

// NewCommand creates the cobra command of a program.
func NewCommand(f *cli.Factory, p Program) *cobra.Command {
	table := p.Table.WithMissing(getopt.Information...).WithMissing(connectionOptions...)
	cmd := &cobra.Command{
		Use:                strings.TrimSpace(cmp.Or(p.Name, table.Program) + " [OPTIONS] " + table.Operands),
		Short:              p.Short,
		Long:               cli.FormatHelp(p.Long) + "\n\n" + strings.TrimRight(table.OptionsText(), "\n"),
		Example:            f.FormatExamples(p.Example),
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			c := &Call{Factory: f, Table: table, Words: words, printedNotes: map[string]bool{}}
			return c.PrintError(c.parseAndRun(cmd, p.Run))
		},
	}
	if p.Complete != nil {
		cmd.ValidArgsFunction = p.newCompleter(f, table)
	}
	cmd.DisableFlagsInUseLine = true
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true
	return cmd
}

// newCompleter returns cobra's completion function for the operands of the program.
func (p *Program) newCompleter(f *cli.Factory, table *getopt.Table) cli.Completer {
	return func(_ *cobra.Command, words []string, prefix string) ([]string, cobra.ShellCompDirective) {
		c := &Call{Factory: f, Table: table, Words: words}
		var err error
		if c.Parsed, err = table.ParseArguments(words); err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c.applyConnection()
		return p.Complete(f, c.Parsed.Operands, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// parseAndRun parses the words and runs the program, or prints the help if the words request it.
func (c *Call) parseAndRun(cmd *cobra.Command, run func(context.Context, *Call) error) error {
	var err error
	if c.Parsed, err = c.Table.ParseArguments(c.Words); err != nil {
		return slurmerror.NewUsageError(c.Table.Program, err)
	}
	out := c.Factory.Streams.Out
	switch {
	case c.Parsed.Has("help"):
		return cmd.Help()
	case c.Parsed.Has("usage"):
		_, err = io.WriteString(out, c.Table.UsageText())
		return err
	case c.Parsed.Has("version"):
		_, err = fmt.Fprintf(out, "slurm %s (vc %s)\n", SlurmVersion, build.Version)
		return err
	}
	c.quiet = c.Table.Program == "scontrol" && c.Parsed.Has("quiet") // scancel's --quiet suppresses only some errors
	c.reportIneffective()
	c.applyConnection()
	return run(cmd.Context(), c)
}

// applyConnection passes the options that select the cluster to the factory.
func (c *Call) applyConnection() {
	config := c.Factory.Config
	for name, field := range map[string]*string{"kubeconfig": config.KubeConfig, "context": config.Context, "namespace": config.Namespace} {
		if value, given := c.Parsed.LastValue(name); given {
			*field = value
		}
	}
}

// PrintError prints an error in Slurm's format and returns an error that contains only the exit code.
func (c *Call) PrintError(err error) error {
	var status cli.ExitStatus
	if err == nil || (errors.As(err, &status) && !usererror.IsJoined(err)) {
		return err
	}
	code := 0
	for _, one := range usererror.Flatten(err) {
		if errors.As(one, &status) {
			code = max(code, int(status))
			continue
		}
		f := c.ToSlurmError(one)
		fmt.Fprint(c.Factory.Streams.Err, printable.EscapeText(slurmerror.FormatText(c.Table.Program, f)))
		code = max(code, f.Code)
	}
	return cli.ExitStatus(max(code, 1))
}

// ToSlurmError converts an error to the error that the program prints.
func (c *Call) ToSlurmError(err error) *usererror.Error {
	human := *cli.HumanizeError(err, c.Factory.DescribeConnection())
	human.Hint = AdaptHint(human.Hint)
	return &human
}

// reportIneffective reports, with -v, the specified options that have no effect. By default, it prints nothing, because
// other programs parse the output of these commands and expect only what Slurm prints.
func (c *Call) reportIneffective() {
	if !c.Parsed.Has("verbose") {
		return
	}
	for _, o := range c.Table.Options {
		if o.NoEffect && o.Long != "verbose" && c.Parsed.Has(o.Long) {
			c.PrintNotef("warning", "--%s has no effect here", o.Long)
		}
	}
}

// IsInJob reports whether the program runs in a pod of a batch job.
func (c *Call) IsInJob() bool { return c.Factory.Streams.Env(launchconfig.EnvPod) != "" }

// PrintNoteOnce prints a note about data that could not be read, unless it has already been printed. In a job, it
// prints nothing, because a job intentionally has few permissions and scripts read both output streams.
func (c *Call) PrintNoteOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.printedNotes[text] && !c.IsInJob() {
		c.printedNotes[text] = true
		c.PrintNotef("note", "%s", text)
	}
}

// PrintNotef prints a line about a result that the user may not expect, such as `sbatch: note: …`.
func (c *Call) PrintNotef(kind, format string, args ...any) {
	if c.quiet {
		return
	}
	fmt.Fprintf(c.Factory.Streams.Err, c.Table.Program+": "+kind+": "+format+"\n", args...)
}

// Interrupted is the exit code of a command that Ctrl-C ended.
const Interrupted = 130

// ClusterName returns the name of the cluster, which is the context of the kubeconfig.
func (c *Call) ClusterName() string { return cmp.Or(c.Factory.DescribeConnection().Context, "cluster") }

// UserName returns the name of the user. In a job, this is the user who submitted the job.
func (c *Call) UserName() string {
	return cmp.Or(c.Factory.Streams.Env("SLURM_JOB_USER"), c.Factory.Streams.FindUserName(), listrow.Nobody)
}

// ListOwnUserNames returns the names of the user that jobs may contain: that of UserName, and the name by which the API server
// knows the user.
func (c *Call) ListOwnUserNames(ctx context.Context) []string {
	return c.Factory.ListOwnUserNames(ctx, c.UserName())
}

// UserEnvironment returns the environment of the user.
func (c *Call) UserEnvironment() []string {
	if c.Factory.Streams.Environ == nil {
		return nil
	}
	return c.Factory.Streams.Environ()
}

// MinJobAge is the duration for which squeue lists a job after it has ended, if ended jobs are requested. It is the
// default value of Slurm's MinJobAge. Programs assume that a job that squeue -j does not list has ended, and then use
// sacct.
const MinJobAge = 300 * time.Second

// AdaptHint adapts a hint of vcctl to Slurm's commands, in which -n does not select a namespace.
func AdaptHint(hint string) string { return strings.ReplaceAll(hint, "(-n)", "(--namespace)") }
