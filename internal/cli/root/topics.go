package root

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// usageTemplate is cobra's template without the global flags, which would make the command's own flags hard to find.
// `vcctl options` shows the global flags.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if gt (len .Aliases) 0}}

Aliases:
  {{.NameAndAliases}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}

Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{end}}{{if and .HasAvailableLocalFlags .HasParent}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasHelpSubCommands}}

Topics:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .CommandPath .CommandPathPadding}} {{.Short}}{{end}}{{end}}{{end}}

Global flags: "{{.Root.CommandPath}} options".{{if .HasAvailableSubCommands}}
Help for a command: "{{.CommandPath}} [command] --help".{{end}}
`

// rejectUnknownHelp makes `help WORD` fail for an unknown command or topic. By default, cobra would show the help of
// the last known command and succeed.
func rejectUnknownHelp(f *cli.Factory, root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		show := help.Run
		help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
			if at, rest, err := root.Find(args); err == nil && len(rest) > 0 {
				return unknownHelpError(f, at, rest[0])
			}
			show(cmd, args)
			return nil
		}
	}
}

// unknownHelpError returns the error for an unknown help topic, with a suggestion.
func unknownHelpError(f *cli.Factory, at *cobra.Command, word string) error {
	if at.HasParent() {
		return cli.UnknownCommand(f, at, word)
	}
	var names, topics []string
	for _, sub := range at.Commands() {
		if names = append(names, sub.Name()); sub.IsAdditionalHelpTopicCommand() {
			topics = append(topics, sub.Name())
		}
	}
	hint := fmt.Sprintf("commands: '%s --help'; topics: %s", f.Program, strings.Join(topics, ", "))
	if near := cli.FindNearest(word, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return usererror.Errorf(hint, "no command or help topic %q", word)
}

// rejectTopicArguments rejects arguments after a help topic, which cobra would ignore.
func rejectTopicArguments(f *cli.Factory, root *cobra.Command, args []string) error {
	topic, rest, problem := root.Find(args)
	if problem == nil && topic.IsAdditionalHelpTopicCommand() {
		problem = topic.ParseFlags(rest)
		if problem == nil && topic.Flags().NArg() > 0 {
			return usererror.Errorf(fmt.Sprintf("'%s' shows it", cli.CommandPath(f, topic)), "unexpected argument %q: %s is a help topic", topic.Flags().Arg(0), topic.Name())
		}
	}
	return nil // cobra finds and reports all other problems
}

// addTopics adds the help topics.
func addTopics(root *cobra.Command) {
	topic := func(use, short, long string) {
		root.AddCommand(&cobra.Command{Use: use, Short: short, Long: cli.FormatHelp(long)})
	}
	topic("formats", "Output formats of -o", `
		-o json, yaml          the whole object; several objects form a List
		-o name                kind.group/name, one per line, for xargs and kubectl
		-o wide                the table with all its columns
		-o jsonpath=…          kubectl's jsonpath: -o jsonpath='{.status.state.phase}'
		-o go-template=…       a Go template that is applied to the object
		-o custom-columns=…    TITLE:path,…: NAME:.metadata.name,QUEUE:.spec.queue

		A table in a pipe has the same columns as on a wide terminal. On a narrow terminal,
		free text in the last column is shortened, and columns with little or no
		information are omitted; -o wide and pipes show all columns and the full text.
		Scripts should use -o json, name or jsonpath.`)
	topic("environment", "Environment variables", `
		KUBECONFIG             the kubeconfig files, as for kubectl
		VCCTL_<FLAG>           any global flag: VCCTL_NAMESPACE=nlp, VCCTL_CONTEXT=prod
		VCCTL_QUEUE            the queue for job run, unless --queue is given
		VCCTL_COMPAT=true      print Volcano's tables, and Volcano's messages in job run
		VCCTL_CONFIG           the settings file (default: vcctl/config.yaml in
		                       $XDG_CONFIG_HOME or ~/.config): see help settings
		NO_COLOR, CLICOLOR=0   no colour; CLICOLOR_FORCE=1: colour in pipes, too
		TERM=dumb              no colour, no block characters and no pager
		VCCTL_PAGER, PAGER     the pager for help and job explain if the text is longer
		                       than the screen (default less); cat means no pager`)
	topic("settings", "The settings file", `
		The optional file ~/.config/vcctl/config.yaml can contain:

		queue: research        the queue for job run, unless --queue is given
		color: never           auto, always or never, like --color
		compat: true           like VCCTL_COMPAT=true: Volcano's tables and messages
		columns:               the columns of lists, by kind (jobs, queues, pods, …;
		  jobs: [name, phase]  tree: queue tree); -o wide still shows all
		dashboard:             settings of vcctl top:
		  theme: light         unless --theme is given
		  slurm: true          Slurm's names of states and reasons, like --slurm
		  compact: true        no boxes, bars and maps, like --compact
		  mouse: false         leave the mouse to the terminal
		  columns:             columns of jobs, queues, nodes and events, in this
		    jobs: [jobid, name, "TEAM:.metadata.labels.team"]
		                       order; TITLE:JSONPATH is a field of the object
		  sort:                up to three columns; - means descending
		    jobs: [-gpu, name]
		  filters:             saved filters, each with a tab of its own
		  - {name: Failed, screen: jobs, filter: "st:f since:1d"}
		  keys:                other keys for actions (? and : show the names)
		    cancel: ctrl-k
		  commands:            custom commands, run by sh; the selected row is in
		  - name: events       $KIND, $NAMESPACE and $NAME; also confirm, dangerous
		    key: ctrl-o        (not with --readonly) and background: true
		    screens: [jobs]
		    command: kubectl events -n "$NAMESPACE" --for "job/$NAME" | less
		  prometheus: https://prometheus.example.org
		                       the usage of GPUs, from NVIDIA's DCGM exporter; or
		                       NAMESPACE/SERVICE:PORT, through the API server
		  themes:              custom themes: a base theme with other colours
		    ocean: {base: dark, colors: {running: "#00d7ff", failed: "203"}}

		An invalid dashboard setting causes an error that states its line number.
		Flags take precedence over environment variables, and environment variables take
		precedence over the file. To use another file, set VCCTL_CONFIG.`)
	topic("old-programs", "vsub, vjobs, … and Volcano's flags", `
		Scripts written for Volcano's command line still work:

		vcctl job run -N x -i img -r 2     Volcano's vcctl flags keep their
		                                   meaning; if there is a newer spelling, a
		                                   line on stderr shows it
		vsub, vjobs, vqueues, vcancel,     names of this program with Volcano's flags,
		vsuspend, vresume                  where -n is the name and -N the namespace
		VCCTL_COMPAT=true                  lists print Volcano's tables

		Differences: the namespace comes from the context, errors are printed on stderr,
		and the exit code of an error is 1.`)
	topic("exit-codes", "Meaning of the exit codes", `
		0     success
		1     an error, including incorrect usage; diff: there are differences
		2     you answered no at a prompt, so nothing was changed; diff: an error
		3     a wait was aborted: the API server did not respond for 5 minutes
		4     not authenticated, or forbidden
		8     not yet: a wait timed out, but the job still exists; explain: the job
		      is waiting; plan: it would wait
		9     plan: it can never start on this cluster with its current request
		130   interrupted
		255   job exec, job attach: the connection was lost while the command ran
		N     the container's exit code: job run --attach, job exec, job attach`)
}
