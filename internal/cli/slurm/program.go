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
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// program is one of Slurm's commands.
type program struct {
	// name is by default that of the table.
	name                 string
	table                *getopt.Table
	short, long, example string
	run                  func(context.Context, *call) error
}

// call is one program that was called.
type call struct {
	f      *cli.Factory
	table  *getopt.Table
	parsed getopt.Parsed
	// words are all that followed the program's name.
	words []string
	// said are the notes that were written once and need not be written again, as with -i.
	said map[string]bool
	// quiet leaves notes and warnings out.
	quiet bool
	// operator says whether the user runs the cluster; nil: nobody asked yet.
	operator *bool
}

// slurmVersion is the version of Slurm whose manual was read, as programs expect it after the word slurm.
const slurmVersion = "26.11.0"

// common are the options that every program has unless it gives the letter another meaning, and those by which vcctl finds the cluster.
func common(t *getopt.Table) []getopt.Option {
	var all []getopt.Option
	add := func(o getopt.Option) {
		taken := slices.ContainsFunc(t.Options, func(other getopt.Option) bool { return other.Short == o.Short })
		if taken {
			o.Short = 0
		}
		if !t.Has(o.Long) {
			all = append(all, o)
		}
	}
	const help, where = "Help", "The cluster (not of Slurm)"
	add(getopt.Option{Long: "help", Short: 'h', Help: "This text", Group: help})
	add(getopt.Option{Long: "usage", Help: "All options in a few lines", Group: help})
	add(getopt.Option{Long: "version", Short: 'V', Help: "The version", Group: help})
	add(getopt.Option{Long: "kubeconfig", Arg: getopt.Required, Value: "FILE", Exact: true, Help: "Kubeconfig to use", Group: where})
	add(getopt.Option{Long: "context", Arg: getopt.Required, Value: "NAME", Exact: true, Help: "Context of the kubeconfig", Group: where})
	add(getopt.Option{Long: "namespace", Arg: getopt.Required, Value: "NAME", Exact: true, Help: "Namespace to work in", Group: where})
	return all
}

// command makes a program a command of the tree.
func command(f *cli.Factory, p program) *cobra.Command {
	table := p.table.With(common(p.table)...)
	cmd := &cobra.Command{
		Use:                strings.TrimSpace(cmp.Or(p.name, table.Program) + " [OPTIONS] " + table.Operands),
		Short:              p.short,
		Long:               cli.Text(p.long) + "\n\n" + strings.TrimRight(table.OptionsText(), "\n"),
		Example:            f.Examples(p.example),
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			c := &call{f: f, table: table, words: words, said: map[string]bool{}}
			return c.told(c.do(cmd, p.run))
		},
	}
	cmd.DisableFlagsInUseLine = true
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true
	return cmd
}

// do reads the words and runs the program, unless they ask for help.
func (c *call) do(cmd *cobra.Command, run func(context.Context, *call) error) error {
	var err error
	if c.parsed, err = c.table.Parse(c.words); err != nil {
		return fault.Usage(c.table.Program, err)
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
	c.quiet = c.table.Program == "scontrol" && c.parsed.Has("quiet") // scancel's --quiet is about some errors only
	c.withoutEffect()
	c.connect()
	return run(cmd.Context(), c)
}

// connect hands the options about the cluster to the factory.
func (c *call) connect() {
	config := c.f.Config
	for name, field := range map[string]*string{"kubeconfig": config.KubeConfig, "context": config.Context, "namespace": config.Namespace} {
		if value, given := c.parsed.Last(name); given {
			*field = value
		}
	}
}

// told prints an error in Slurm's form and keeps only its code.
func (c *call) told(err error) error {
	var status cli.ExitStatus
	if err == nil || errors.As(err, &status) && !isJoined(err) {
		return err
	}
	code := 0
	for _, one := range flatten(err) {
		if errors.As(one, &status) {
			code = max(code, int(status))
			continue
		}
		f := c.faultOf(one)
		fmt.Fprint(c.f.Streams.Err, printable.Text(f.Text(c.table.Program)))
		code = max(code, f.Code)
	}
	return cli.ExitStatus(max(code, 1))
}

func isJoined(err error) bool {
	_, joined := err.(interface{ Unwrap() []error })
	return joined
}

func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, flatten(one)...)
	}
	return all
}

// faultOf is any error as one of Slurm's.
func (c *call) faultOf(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	human := cli.Humanize(err, c.f.Where())
	return &fault.Error{What: human.What, Hint: inSlurmsOptions(human.Hint), Code: human.Code}
}

// noEffect begins the help of options that are accepted and do nothing.
const noEffect = "No effect"

// withoutEffect reports, with -v, options that were given and have no effect here. Programs read what these commands print, so that by default
// nothing is printed that Slurm does not print.
func (c *call) withoutEffect() {
	if !c.parsed.Has("verbose") {
		return
	}
	for _, o := range c.table.Options {
		if o.Long != "verbose" && strings.HasPrefix(o.Help, noEffect) && c.parsed.Has(o.Long) {
			c.notef("warning", "--%s has no effect here", o.Long)
		}
	}
}

// isInJob reports whether the program runs in a pod of a batch job.
func (c *call) isInJob() bool { return c.f.Streams.Env(launch.EnvPod) != "" }

// noteOnce writes a note about what could not be read unless it was written before. In a job, which has few rights on purpose, it writes none: scripts
// read both streams.
func (c *call) noteOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.said[text] && !c.isInJob() {
		c.said[text] = true
		c.notef("note", "%s", text)
	}
}

// notef writes a line about what was done otherwise than somebody may expect: `sbatch: note: …`.
func (c *call) notef(kind, format string, args ...any) {
	if c.quiet {
		return
	}
	fmt.Fprintf(c.f.Streams.Err, c.table.Program+": "+kind+": "+format+"\n", args...)
}
