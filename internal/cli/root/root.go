// Package root assembles the commands into one tree and runs it, as vcctl or as the kubectl plugin "kubectl vc".
package root

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/account"
	"github.com/vc-batch/vc/internal/cli/completion"
	"github.com/vc-batch/vc/internal/cli/configcmd"
	"github.com/vc-batch/vc/internal/cli/crds"
	"github.com/vc-batch/vc/internal/cli/cronjob"
	"github.com/vc-batch/vc/internal/cli/diff"
	"github.com/vc-batch/vc/internal/cli/doctor"
	"github.com/vc-batch/vc/internal/cli/events"
	"github.com/vc-batch/vc/internal/cli/history"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/job"
	"github.com/vc-batch/vc/internal/cli/jobflow"
	"github.com/vc-batch/vc/internal/cli/jobtemplate"
	"github.com/vc-batch/vc/internal/cli/node"
	"github.com/vc-batch/vc/internal/cli/plan"
	"github.com/vc-batch/vc/internal/cli/pod"
	"github.com/vc-batch/vc/internal/cli/podgroup"
	"github.com/vc-batch/vc/internal/cli/queue"
	"github.com/vc-batch/vc/internal/cli/slurm"
	"github.com/vc-batch/vc/internal/cli/top"
	"github.com/vc-batch/vc/internal/cli/usagereport"
	"github.com/vc-batch/vc/internal/cli/version"
	"github.com/vc-batch/vc/internal/interrupt"
	"github.com/vc-batch/vc/internal/usererror"
)

// garbagePercent is the garbage collector's target percentage. It is low because most of the memory used for a large
// list is garbage. With this value, listing 10,000 jobs takes less than 150 MB.
const garbagePercent = 40

// Main runs the command line and returns the exit code. The program name argv0 selects what to run: vcctl, a kubectl
// plugin, the completion of that plugin, or one of Volcano's short programs. The with functions add parts to the
// factory that this package does not import. Main sets the garbage collector's target to garbagePercent.
func Main(ctx context.Context, argv0 string, args []string, streams iostreams.Streams, with ...func(*cli.Factory)) int {
	debug.SetGCPercent(garbagePercent)
	ctx, stop := interrupt.ContextWithSignals(ctx)
	defer stop()
	f := cli.NewFactory(ProgramName(argv0), &streams)
	for _, prepare := range with {
		prepare(f)
	}
	cmd, args := selectTree(f, argv0, args)
	return executeCommand(ctx, f, cmd, args)
}

// Run runs a vcctl command line with the specified factory and without signal handling.
func Run(ctx context.Context, f *cli.Factory, args []string) int {
	return executeCommand(ctx, f, New(f), args)
}

func executeCommand(ctx context.Context, f *cli.Factory, cmd *cobra.Command, args []string) int {
	f.Streams.Interrupted = ctx.Done()
	args, err := slurm.ParseConnection(cmd, args)
	cmd.SetArgs(args)
	if err == nil {
		err = rejectTopicArguments(f, cmd, args)
	}
	if err == nil {
		cmd, err = cmd.ExecuteContextC(ctx)
	}
	var heeded cli.Heeded
	switch {
	case errors.As(err, &heeded):
		return int(heeded)
	case ctx.Err() != nil:
		cli.ReportError(f.Streams.Err, errorsBeforeInterrupt(err), f.DescribeConnection())
		return cli.ExitInterrupted
	case err == nil:
		return cli.ExitOK
	}
	return cli.ErrorCode(cmd, err, cli.ReportError(f.Streams.Err, err, f.DescribeConnection()))
}

// errorsBeforeInterrupt returns the errors of an interrupted command that occurred before the interruption. It drops
// the errors from requests that the interruption cancelled.
func errorsBeforeInterrupt(err error) error {
	return usererror.Map(err, func(one error) error {
		var human *usererror.Error
		if errors.Is(one, context.Canceled) || !errors.As(one, &human) {
			return nil
		}
		return one
	})
}

// New returns the whole command tree.
func New(f *cli.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   strings.ReplaceAll(f.Program, " ", "-"),
		Short: "Run and watch batch jobs on Kubernetes", Version: build.DescribeProgram().Version,
		Long: cli.FormatHelp(`
			Run batch jobs on Kubernetes, check their state, and see why they are waiting.

			Jobs and queues are objects of Volcano's API (batch.volcano.sh and
			scheduling.volcano.sh), so you can also manage them with kubectl. The cluster
			and the namespace come from your kubeconfig, as in kubectl.`),
		Example: f.FormatExamples(`
			# A job with three pods that start together
			vcctl job run hello --image busybox --replicas 3 -- sh -c 'echo hello from $HOSTNAME'

			# Its state, its logs, and an overview of the cluster
			vcctl job list
			vcctl job logs hello -f
			vcctl top --once`),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.UnknownCommand(f, cmd, args[0])
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return setFromEnvironment(f, cmd) },
	}
	if strings.Contains(f.Program, " ") {
		cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: f.Program}
	}
	cmd.SetOut(f.Streams.Out)
	cmd.SetErr(f.Streams.Err)
	cmd.SetIn(f.Streams.In)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return cli.RewordFlagError(f, cmd, err) })
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.AddGroup(&cobra.Group{ID: "work", Title: "Work:"}, &cobra.Group{ID: "installation", Title: "Installation:"}, &cobra.Group{ID: "tool", Title: "This tool:"})
	addCommandGroup(cmd, "work", job.New(f), queue.New(f), account.New(f), node.New(f), plan.New(f), diff.New(f), top.New(f), jobflow.New(f), jobtemplate.New(f), cronjob.New(f), podgroup.New(f), pod.New(f), events.New(f), history.New(f), usagereport.New(f), slurm.New(f))
	addCommandGroup(cmd, "installation", doctor.New(f), crds.New(f), configcmd.New(f))
	addCommandGroup(cmd, "tool", version.New(f), completion.New(f), newOptions(f))
	addTopics(cmd)
	cmd.SetHelpCommandGroupID("tool")
	rejectUnknownHelp(f, cmd)
	addRootFlags(f, cmd)
	cmd.SetUsageTemplate(usageTemplate)
	cmd.SetVersionTemplate(f.Program + " {{.Version}}\n")
	cmd.SetHelpFunc(showInPager(f, cmd.HelpFunc()))
	return cmd
}

// showInPager shows the help text in a pager if it does not fit on the screen.
func showInPager(f *cli.Factory, help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		out := cmd.OutOrStdout()
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(out)
		if err := f.Streams.ShowPaged(append(bytes.TrimRight(text.Bytes(), "\n"), '\n')); err != nil {
			cmd.PrintErrln("error:", err)
		}
	}
}

func addCommandGroup(parent *cobra.Command, group string, children ...*cobra.Command) {
	for _, child := range children {
		child.GroupID = group
		parent.AddCommand(child)
	}
}

// addRootFlags adds kubectl's connection flags, vcctl's own flags and Volcano's old names for them.
func addRootFlags(f *cli.Factory, cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	f.Config.AddFlags(flags)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "cache-dir" {
			flag.DefValue = "$HOME/.kube/cache"
		}
		if flag.Usage != "" && flag.Name == "namespace" {
			flag.Usage = "Namespace to use (default: the namespace of the context)"
		}
	})
	flags.StringVar(&f.Streams.ColorMode, "color", f.Streams.ColorMode, "When to use colour: auto, always or never")
	flags.StringVarP(f.Config.KubeConfig, "kubeconfig-file", "k", "", "Old spelling of --kubeconfig")
	flags.StringVar(f.Config.APIServer, "master", "", "Old spelling of --server")
	flags.VarP(&verbosity{}, "v", "v", "Log level of the Kubernetes client; level 6 logs API requests")
	for _, old := range []string{"kubeconfig-file", "master"} {
		flags.Lookup(old).Hidden = true
	}
	_ = cmd.RegisterFlagCompletionFunc("namespace", f.CompleteNamespaces())
	_ = cmd.RegisterFlagCompletionFunc("context", f.CompleteContexts())
	_ = cmd.RegisterFlagCompletionFunc("cluster", f.CompleteClusters())
	_ = cmd.RegisterFlagCompletionFunc("user", f.CompleteUsers())
	_ = cmd.RegisterFlagCompletionFunc("color", cli.CompleteValues("auto", "always", "never"))
}

// verbosity is the value of -v. It sets the level of klog, with which the Kubernetes client writes its logs.
type verbosity struct{ level string }

func (v *verbosity) String() string { return v.level }
func (v *verbosity) Type() string   { return "level" }
func (v *verbosity) Set(level string) error {
	v.level = level
	var all klogFlags
	klog.InitFlags(all.newFlagSet())
	return all.flags.Set("v", level)
}

// setFromEnvironment sets each root flag that was not specified from the variable VCCTL_<NAME>.
func setFromEnvironment(f *cli.Factory, cmd *cobra.Command) error {
	settings, problem := f.LoadSettings()
	cmd.Root().PersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || flag.Hidden || problem != nil {
			return
		}
		name := "VCCTL_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value := f.Streams.Env(name)
		if value == "" {
			return
		}
		if err := flag.Value.Set(value); err != nil {
			problem = usererror.Errorf("this environment variable sets the flag --"+flag.Name, "environment variable %s=%q: %v", name, value, err)
		}
	})
	if problem != nil {
		return problem
	}
	where := "--color"
	switch given := cmd.Root().PersistentFlags().Changed("color"); {
	case given:
	case f.Streams.Env("VCCTL_COLOR") != "":
		where = "environment variable VCCTL_COLOR"
	case settings.Color != "":
		where, f.Streams.ColorMode = "settings "+f.SettingsFile()+": color", settings.Color
	}
	if !slices.Contains([]string{"auto", "always", "never"}, f.Streams.ColorMode) {
		mode := f.Streams.ColorMode
		f.Streams.ColorMode = "auto"
		return usererror.Errorf("use auto, always or never", "%s: unknown value %q", where, mode)
	}
	return nil
}

// newOptions returns the command that prints the flags common to all commands, like kubectl options.
func newOptions(f *cli.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "Show the flags that all commands accept",
		Long: cli.FormatHelp(`
			Show the flags that all commands accept: kubectl's connection flags, colour and
			verbosity.`),
		Example: f.FormatExamples(`
			# All global flags
			vcctl options

			# Use them with any command
			vcctl job list --context prod -n nlp`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(f.Streams.Out, "All commands accept these flags:\n\n"+cmd.Root().PersistentFlags().FlagUsagesWrapped(80))
			return err
		},
	}
}
