// Package volcanocli implements Volcano's short programs (vsub, vjobs, vqueues, vcancel, vsuspend and vresume) as
// alternative names of the vcctl binary. The programs accept Volcano's flags, in which -n is the name and -N the
// namespace. They translate these flags to a vcctl command line with the flags of Volcano's vcctl, so that the output
// is the same as Volcano's.
//
//	In:   Volcano's flags, the VOLCANO_… variables of vsub
//	Out:  the arguments of a vcctl command line; vqueues prints its table itself
package volcanocli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// Programs lists the names under which this binary runs as a short program.
var Programs = []string{"vsub", "vjobs", "vqueues", "vcancel", "vsuspend", "vresume"}

// IsProgram reports whether program is one of Volcano's short programs.
func IsProgram(program string) bool { return slices.Contains(Programs, program) }

// Exec runs a vcctl command line.
type Exec func(ctx context.Context, args []string) error

// flags holds the flags of Volcano's short programs; each program has some of them.
type flags struct {
	namespace, name, scheduler     string
	image, requests, limits, shell string
	replicas, min                  int32
	allNamespaces                  bool
	selector                       string
	server, kubeconfig             string
}

// New returns the command for a program in Programs.
func New(f *cli.Factory, program string, exec Exec) *cobra.Command {
	l := &flags{}
	cmd := map[string]func(*cli.Factory, *flags, Exec) *cobra.Command{
		"vsub": newSub, "vjobs": newJobs, "vqueues": newQueues,
		"vcancel":  newJobVerb("vcancel", "cancel", "Delete a job", "delete", "cancel job train successfully"),
		"vsuspend": newJobVerb("vsuspend", "suspend", "Stop the pods of a job, but keep the job", "suspend", ""),
		"vresume":  newJobVerb("vresume", "resume", "Start a suspended job again", "resume", ""),
	}[program](f, l, exec)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetOut(f.Streams.Out)
	cmd.SetErr(f.Streams.Err)
	cmd.SetIn(f.Streams.In)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usererror.Errorf(helpHint(program)+"; vcctl accepts names as arguments", "unexpected argument %q: specify the name with -n NAME", args[0])
		}
		return nil
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return cli.RewordFlagError(f, cmd, err) })
	set := cmd.Flags()
	set.StringVarP(&l.server, "master", "s", "", "Address of the API server")
	set.StringVarP(&l.kubeconfig, "kubeconfig", "k", "", "Kubeconfig file (default: $KUBECONFIG, ~/.kube/config)")
	return cmd
}

func helpHint(program string) string { return "see '" + program + " --help'" }

// addJob adds the flags that select the job.
func (l *flags) addJob(f *cli.Factory, cmd *cobra.Command) {
	cmd.Flags().StringVarP(&l.namespace, "namespace", "N", "", "Namespace of the job (default: the namespace of the context)")
	cmd.Flags().StringVarP(&l.name, "name", "n", "", "Name of the job")
	_ = cmd.RegisterFlagCompletionFunc("namespace", f.CompleteNamespaces())
	_ = cmd.RegisterFlagCompletionFunc("name", l.completeJobs(f))
}

// completeJobs completes the names of the jobs in the namespace that -N specifies.
func (l *flags) completeJobs(f *cli.Factory) cli.Completer {
	names := f.CompleteJobs()
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		l.applyConnection(f)
		return names(cmd, args, prefix)
	}
}

// applyConnection passes the namespace, the server and the kubeconfig to the factory.
func (l *flags) applyConnection(f *cli.Factory) {
	*f.Config.Namespace, *f.Config.APIServer, *f.Config.KubeConfig = l.namespace, l.server, l.kubeconfig
}

// line is a vcctl command line, starting with the connection flags.
type line []string

func (l *flags) commandLine(words ...string) line {
	var all line
	all.addFlag("--server", l.server)
	all.addFlag("--kubeconfig", l.kubeconfig)
	all.addFlag("--namespace", l.namespace)
	return append(all, words...)
}

// addFlag appends a flag to the command line unless its value is empty.
func (a *line) addFlag(flag, value string) {
	if value != "" {
		*a = append(*a, flag+"="+value)
	}
}

func newSub(f *cli.Factory, l *flags, exec Exec) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vsub -n NAME [flags]",
		Short: "Submit a job",
		Long: cli.FormatHelp(`
			Submit a job with one task, as Volcano's vsub does. The variables
			VOLCANO_DEFAULT_IMAGE, VOLCANO_DEFAULT_JOB_NAMESPACE and VOLCANO_SCHEDULER_NAME
			set the defaults of --image, --namespace and --scheduler.

			vcctl job run has more features: files, queues, GPUs, and waiting for the job to end.`),
		Example: "  # Three pods that sleep\n  vsub -n nap -r 3 -c 'sleep 10'\n\n  # In another namespace\n  vsub -n nap -N nlp -i busybox -c 'sleep 10'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			args, err := l.translateSubmission(f)
			if err != nil {
				return err
			}
			return exec(cmd.Context(), args)
		},
	}
	l.addJob(f, cmd)
	set := cmd.Flags()
	set.StringVarP(&l.image, "image", "i", "", "Image of the container (default \"busybox\")")
	set.Int32VarP(&l.min, "min", "m", 1, "Number of pods that must start together")
	set.Int32VarP(&l.replicas, "replicas", "r", 1, "Number of pods")
	set.StringVarP(&l.requests, "requests", "R", "cpu=1000m,memory=100Mi", "Resource requests of each pod")
	set.StringVarP(&l.limits, "limits", "L", "", "Resource limits of each pod (default \"cpu=1000m,memory=100Mi\")")
	set.StringVarP(&l.scheduler, "scheduler", "S", "", "Name of the scheduler (default \"volcano\")")
	set.StringVarP(&l.shell, "command", "c", "", "Command of the container, split into words as in a shell")
	return cmd
}

// translateSubmission translates a vsub command line to vcctl.
func (l *flags) translateSubmission(f *cli.Factory) (line, error) {
	if l.name == "" {
		return nil, usererror.Errorf("vsub -n NAME -c COMMAND; "+helpHint("vsub"), "job name cannot be left blank")
	}
	words, err := splitWords(l.shell)
	if err != nil {
		return nil, err
	}
	l.namespace = cmp.Or(l.namespace, f.Streams.Env("VOLCANO_DEFAULT_JOB_NAMESPACE"))
	args := l.commandLine("job", "run", "--name="+l.name, "--replicas="+numberText(l.replicas), "--min="+numberText(l.min), "--requests="+l.requests)
	args.addFlag("--limits", l.limits)
	args.addFlag("--image", cmp.Or(l.image, f.Streams.Env("VOLCANO_DEFAULT_IMAGE")))
	args.addFlag("--scheduler", cmp.Or(l.scheduler, f.Streams.Env("VOLCANO_SCHEDULER_NAME")))
	if len(words) > 0 {
		args = append(append(args, "--"), words...)
	}
	return args, nil
}

func newJobs(f *cli.Factory, l *flags, exec Exec) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vjobs [-n NAME] [flags]",
		Short: "List jobs, or show one",
		Long: cli.FormatHelp(`
			List jobs in Volcano's format, or show one job with -n.

			vcctl job list shows why jobs are waiting, and accepts label selectors.`),
		Example: "  # Jobs in a namespace\n  vjobs -N nlp\n\n  # One job\n  vjobs -N nlp -n train",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.name != "" {
				return exec(cmd.Context(), l.commandLine("job", "view", "--name="+l.name))
			}
			args := l.commandLine("job", "list", "--compat")
			args.addFlag("--scheduler", l.scheduler)
			args.addFlag("--selector", l.selector)
			if l.allNamespaces {
				args = append(args, "--all-namespaces")
			}
			return exec(cmd.Context(), args)
		},
	}
	l.addJob(f, cmd)
	set := cmd.Flags()
	set.StringVarP(&l.scheduler, "scheduler", "S", "", "Show only jobs that use this scheduler")
	set.BoolVarP(&l.allNamespaces, "all-namespaces", "A", false, "List jobs in all namespaces")
	set.StringVar(&l.selector, "selector", "", "Show only jobs whose names contain this text; a text with =, != or in is a label selector")
	return cmd
}

// newJobVerb returns a constructor for a command that acts on one job. says is the program's success message.
func newJobVerb(program, verb, short, ours, says string) func(*cli.Factory, *flags, Exec) *cobra.Command {
	return func(f *cli.Factory, l *flags, exec Exec) *cobra.Command {
		long := short + ", as Volcano's " + program + " does; it prints nothing on success."
		if says != "" {
			long = short + ", as Volcano's " + program + " does; on success it prints `" + says + "`."
		}
		cmd := &cobra.Command{
			Use: program + " -n NAME [-N NAMESPACE]", Short: short,
			Long:    long + "\nvcctl job " + ours + " accepts several names, and selectors.",
			Example: fmt.Sprintf("  # A job in this namespace\n  %s -n train\n\n  # A job in another namespace\n  %s -n train -N nlp", program, program),
			RunE: func(cmd *cobra.Command, _ []string) error {
				if l.name == "" {
					return usererror.Errorf(fmt.Sprintf("%s -n NAME; %s", program, helpHint(program)), "job name is mandatory to %s a particular job", verb)
				}
				return exec(cmd.Context(), l.commandLine("job", ours, "--name="+l.name))
			},
		}
		l.addJob(f, cmd)
		return cmd
	}
}

func numberText(n int32) string { return strconv.Itoa(int(n)) }

// splitWords splits a command into words like a shell: spaces separate words, and quotes and backslashes protect
// spaces. It does not expand anything.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	within, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			within, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, within = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	if quote != 0 || escaped {
		return nil, usererror.Errorf("close the quote, or write the command to a script file and call the script", "--command: %q has an unclosed quote", text)
	}
	if within {
		words = append(words, word.String())
	}
	return words, nil
}
