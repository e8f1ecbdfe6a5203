package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/local/simnode"
	"github.com/vc-batch/vc/internal/usererror"
)

// upOptions holds the flags of `vc-local up`.
type upOptions struct {
	dir            string
	port           int
	kubeconfig     string
	processNodes   int
	simulatedNodes int
	node           nodeFlags
	nodesFile      string
	simulatedStart string
	components     string
	schedulerConf  string
	detach         bool
	ephemeral      bool

	changed func(flag string) bool
	given   []string // the flags that the user specified, sorted
	out     io.Writer
	errOut  io.Writer
}

// newUp returns the command `vc-local up`, which calls run.
func newUp(run func(context.Context, *upOptions) error) *cobra.Command {
	o := &upOptions{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster",
		Long: `Start the cluster and keep it running until you stop it. With --detach, return when
the cluster is ready. If a flag is not specified, its setting keeps the value from
the last run. By default, the first run has one process node with the size of this
machine.

A file for --nodes-file is a YAML list:
  - {name: 192.168.23.24, kind: process, cpu: 3920m, memory: 6265300Ki}
  - {kind: simulated, count: 100, cpu: "8", memory: 32Gi, resources: {nvidia.com/gpu: "4"},
     labels: {zone: a}, taints: ["dedicated=train:NoSchedule"]}`,
		Example: `  vc-local up --detach
  vc-local up --process-nodes 4 --node-cpu 3920m --node-memory 6265300Ki
  vc-local up --ephemeral --process-nodes 0 --simulated-nodes 1000 --node-resource nvidia.com/gpu=8
  vc-local up --components api     # run only the control plane and nodes: use your own scheduler`,
		Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.changed = func(flag string) bool { return cmd.Flags().Changed(flag) }
			cmd.Flags().Visit(func(flag *pflag.Flag) { o.given = append(o.given, flag.Name) })
			o.out, o.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	addDirFlag(cmd, &o.dir)
	flags.IntVar(&o.port, "port", 0, "`port` of the API server on 127.0.0.1; 0 selects the last port or a free port")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "additional `file` for the kubeconfig; your own kubeconfig is not changed")
	flags.IntVar(&o.processNodes, "process-nodes", 1, "`number` of nodes that run pods as processes")
	flags.IntVar(&o.simulatedNodes, "simulated-nodes", 0, "`number` of nodes that only simulate pods")
	flags.StringVar(&o.node.cpu, "node-cpu", "", "cpu of each node (default: this machine's; simulated: 8)")
	flags.StringVar(&o.node.memory, "node-memory", "", "memory of each node (default: this machine's; simulated: 32Gi)")
	flags.StringArrayVar(&o.node.resources, "node-resource", nil, "additional resource of each node as `NAME=QUANTITY`; can be repeated")
	flags.StringArrayVar(&o.node.labels, "node-label", nil, "label of each node as `KEY=VALUE`; can be repeated")
	flags.StringVar(&o.nodesFile, "nodes-file", "", "YAML `file` that lists nodes (see above)")
	flags.StringVar(&o.simulatedStart, "simulated-start", "0s", "time that simulated nodes take to start a pod: a `duration`, or never")
	flags.StringVar(&o.components, "components", local.ComponentsAll, "`components` to run in addition to the control plane and the nodes: all, or api for none")
	flags.StringVar(&o.schedulerConf, "scheduler-conf", "", "volcano-scheduler.conf `file` (default: built in)")
	flags.BoolVar(&o.detach, "detach", false, "return when the cluster is ready")
	flags.BoolVar(&o.ephemeral, "ephemeral", false, "do not wait for disk writes, and remove all state when the cluster stops")
	return cmd
}

// addRunningDirFlag adds --dir to a command that acts on a cluster that may be running.
func addRunningDirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", "", "`directory` of the cluster's state (default: the directory of the cluster in $KUBECONFIG, otherwise $XDG_STATE_HOME/vc-local or ~/.local/state/vc-local)")
}

// addDirFlag adds --dir to the command that starts a cluster.
func addDirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", "", "`directory` of the cluster's state (default: $XDG_STATE_HOME/vc-local or ~/.local/state/vc-local)")
}

// runUp starts the cluster in this process or detached.
func runUp(ctx context.Context, o *upOptions) error {
	dir, err := local.NewDir(o.dir)
	if err != nil {
		return err
	}
	progress := o.newReporter()
	err = o.startCluster(ctx, dir, progress)
	if wire, ok := progress.(*wireReporter); ok {
		return wire.reportEnd(err)
	}
	return err
}

func (o *upOptions) startCluster(ctx context.Context, dir local.Dir, progress reporter) error {
	if err := dir.Check(); err != nil {
		return err
	}
	if record, running, err := local.FindRecord(dir); err != nil {
		return err
	} else if running {
		return o.waitForRunning(ctx, dir, record, progress)
	}
	settings, err := o.loadSettings(dir)
	if err != nil {
		return err
	}
	if o.detach {
		return startAndDetach(ctx, dir, o.out, o.errOut)
	}
	err = local.Run(ctx, settings, progress)
	if errors.Is(err, local.ErrRunning) {
		return o.waitForRunning(ctx, dir, local.Record{}, progress)
	}
	return err
}

// loadSettings returns the settings of the last run with the changes that the flags specify.
func (o *upOptions) loadSettings(dir local.Dir) (local.Settings, error) {
	s, again, err := local.LoadSettings(dir)
	if err != nil {
		return s, err
	}
	if o.changed("port") {
		if o.port < 0 || o.port > 65535 {
			return s, &usererror.Error{What: fmt.Sprintf("port %d is not between 1 and 65535", o.port), Hint: "omit --port to use a free port"}
		}
		s.Port, s.PortAsked = o.port, o.port != 0
	}
	if s.Ephemeral = o.ephemeral; s.Ephemeral {
		if err := local.CheckEphemeral(dir); err != nil {
			return s, err
		}
	}
	if s.SimulatedStart, err = o.simulatedStartTime(s.SimulatedStart); err != nil {
		return s, err
	}
	if err := o.checkFiles(&s); err != nil {
		return s, err
	}
	if o.changed("components") {
		s.Components = o.components
	}
	if s.Components != local.ComponentsAll && s.Components != local.ComponentsAPI {
		return s, &usererror.Error{What: fmt.Sprintf("--components: unknown value %q", s.Components), Hint: "use all to run vc's scheduler, controllers and admission, or api to run none of these components"}
	}
	if !again || o.areNodesNamed() {
		s.Nodes, err = o.readNodes()
	}
	return s, err
}

func (o *upOptions) simulatedStartTime(last time.Duration) (time.Duration, error) {
	if !o.changed("simulated-start") {
		return last, nil
	}
	start, err := simnode.ParseStart(o.simulatedStart)
	if err != nil {
		return 0, &usererror.Error{What: fmt.Sprintf("--simulated-start: %q is not valid: use a duration or never", o.simulatedStart), Hint: "for example --simulated-start 5s"}
	}
	return start, nil
}

// checkFiles checks the files that are specified by flags and makes their paths absolute.
func (o *upOptions) checkFiles(s *local.Settings) error {
	var err error
	if o.changed("kubeconfig") {
		s.Kubeconfig = ""
		if o.kubeconfig != "" {
			if s.Kubeconfig, err = filepath.Abs(o.kubeconfig); err != nil {
				return err
			}
		}
	}
	if err := local.CheckKubeconfig(s.Kubeconfig); err != nil {
		return err
	}
	if o.changed("scheduler-conf") {
		s.SchedulerConf = ""
		if o.schedulerConf != "" {
			if s.SchedulerConf, err = filepath.Abs(o.schedulerConf); err != nil {
				return err
			}
		}
	}
	if s.SchedulerConf == "" {
		return nil
	}
	warnings, err := local.CheckSchedulerConf(s.SchedulerConf)
	for _, warning := range warnings {
		fmt.Fprintln(o.errOut, "warning: scheduler configuration: "+warning)
	}
	return err
}

func (o *upOptions) areNodesNamed() bool {
	flags := []string{"process-nodes", "simulated-nodes", "node-cpu", "node-memory", "node-resource", "node-label", "nodes-file"}
	return slices.ContainsFunc(flags, o.changed)
}

// readNodes returns the nodes specified by the nodes file and by the flags.
func (o *upOptions) readNodes() ([]nodespec.Node, error) {
	specs := []nodespec.Spec{}
	if o.nodesFile != "" {
		var err error
		if specs, err = local.ReadNodesFile(o.nodesFile); err != nil {
			return nil, err
		}
		if !o.changed("process-nodes") {
			o.processNodes = 0 // the file lists all nodes
		}
	}
	for _, counted := range []struct {
		flag, kind string
		count      int
	}{{"process-nodes", nodespec.KindProcess, o.processNodes}, {"simulated-nodes", nodespec.KindSimulated, o.simulatedNodes}} {
		if counted.count < 0 {
			return nil, &usererror.Error{What: fmt.Sprintf("--%s %d is negative", counted.flag, counted.count), Hint: "use 0 for none"}
		}
		if counted.count > 0 {
			spec, err := o.node.nodeSpec("--node-", counted.kind, counted.count)
			if err != nil {
				return nil, err
			}
			specs = append(specs, spec)
		}
	}
	nodes, err := nodespec.ExpandSpecs(specs, nil)
	if err != nil {
		return nil, &usererror.Error{What: err.Error(), Hint: "see vc-local up --help", Err: err}
	}
	return append([]nodespec.Node{}, nodes...), nil
}

// waitForRunning waits until the running cluster is ready, and then reports that it is running.
func (o *upOptions) waitForRunning(ctx context.Context, dir local.Dir, record local.Record, progress reporter) error {
	for !record.Ready {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return errInterrupted
		}
		var running bool
		var err error
		if record, running, err = local.FindRecord(dir); err != nil {
			return err
		} else if !running {
			return &usererror.Error{What: fmt.Sprintf("another process was starting the cluster in %s, but that process has ended", dir), Hint: "see " + dir.ControlPlaneLog() + " and try again"}
		}
	}
	progress.Note(fmt.Sprintf("the cluster in %s is already running (process %d, for %s)", dir, record.PID, duration.HumanDuration(time.Since(record.Started))))
	if warning := o.ineffectiveFlags(); warning != "" {
		progress.Warn(warning)
	}
	progress.Up(record)
	return nil
}

// ineffectiveFlags lists the specified flags that do not affect a running cluster. It returns "" if none exist.
func (o *upOptions) ineffectiveFlags() string {
	var flags []string
	for _, flag := range o.given {
		if flag != "dir" && flag != "detach" {
			flags = append(flags, "--"+flag)
		}
	}
	switch {
	case len(flags) == 0:
		return ""
	case o.areNodesNamed():
		return "these flags have no effect on a running cluster: " + strings.Join(flags, ", ") + " (stop it first with vc-local down, or change its nodes with vc-local nodes)"
	}
	return "these flags have no effect on a running cluster: " + strings.Join(flags, ", ") + " (stop it first with vc-local down)"
}

// reporter reports the progress of a start, and flags that have no effect.
type reporter interface {
	local.Reporter
	// Warn reports an ignored option, as one line.
	Warn(line string)
}

// newReporter returns a reporter that prints to the user or, in a detached process, reports to the process that is
// waiting for it.
func (o *upOptions) newReporter() reporter {
	if wire := wireFromEnvironment(); wire != nil {
		return wire
	}
	return &textReporter{out: o.out, errOut: o.errOut, begun: time.Now()}
}

// textReporter prints progress for a user. The lines that scripts need are written to stdout, all others to stderr.
type textReporter struct {
	out, errOut io.Writer
	begun       time.Time
}

func (t *textReporter) Ready(part string, took time.Duration) {
	fmt.Fprintf(t.errOut, "%s ready %.1fs\n", part, took.Seconds())
}

func (t *textReporter) Note(line string) { fmt.Fprintln(t.errOut, "note: "+line) }

func (t *textReporter) Warn(line string) { fmt.Fprintln(t.errOut, "warning: "+line) }

func (t *textReporter) Up(record local.Record) {
	if record.PID == os.Getpid() {
		go settleMemory()
		fmt.Fprintf(t.errOut, "cluster ready after %.1fs; press Ctrl-C to stop\n", time.Since(t.begun).Seconds())
	}
	fmt.Fprintf(t.out, "export KUBECONFIG=%s\n", shellQuote(record.Kubeconfig))
}
