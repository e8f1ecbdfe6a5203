package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/usererror"
)

const how = "Actions"

var scancelTable = getopt.Table{Program: "scancel", Operands: "[JOB[_TASK][.STEP]...]", Options: []getopt.Option{
	{Long: "account", Short: 'A', Arg: getopt.Required, Value: "NAME", Help: "Only jobs of this account", Group: program.FilterGroup},
	{Long: "me", Help: "Only your jobs", Group: program.FilterGroup},
	{Long: "jobname", Short: 'n', Arg: getopt.Required, Value: "NAME", Help: "Only jobs with this name", Group: program.FilterGroup},
	{Long: "name", Arg: getopt.Required, Value: "NAME", Help: "Same as --jobname", Group: program.FilterGroup},
	{Long: "nodelist", Short: 'w', Arg: getopt.Required, Value: "HOSTS", Help: "Only jobs on these Kubernetes nodes", Group: program.FilterGroup},
	{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "NAME", Help: "Only jobs in this partition (queue)", Group: program.FilterGroup},
	{Long: "qos", Short: 'q', Arg: getopt.Required, Value: "NAME", Help: "Only jobs with this quality of service", Group: program.FilterGroup},
	{Long: "state", Short: 't', Arg: getopt.Required, Value: "STATE", Help: "Only jobs in this state: PENDING, RUNNING or SUSPENDED", Group: program.FilterGroup},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "NAME", Help: "Only jobs of this user", Group: program.FilterGroup},
	{Long: "wckey", Arg: getopt.Required, Value: "KEY", Help: "Only jobs with this workload characterization key", Group: program.FilterGroup},
	{Long: "reservation", Short: 'R', Arg: getopt.Required, Value: "NAME", Help: "Not supported: nodes cannot be reserved in advance", Group: program.FilterGroup},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to search: contexts in the kubeconfig", Group: program.FilterGroup},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "signal", Short: 's', Arg: getopt.Required, Value: "SIGNAL", Help: "Send a signal to the steps instead of cancelling", Group: how},
	{Long: "batch", Short: 'b', Help: "Send the signal only to the batch script", Group: how},
	{Long: "full", Short: 'f', Help: "Send the signal to the batch script and the steps", Group: how},
	{Long: "interactive", Short: 'i', Help: "Ask for confirmation for each job", Group: how},
	{Long: "quiet", Short: 'Q', Help: "Print no errors about jobs that have ended", Group: how},
	{Long: "verbose", Short: 'v', Help: "Report each action", Group: how},
	{Long: "purge", Exact: true, Help: "Delete the jobs; the accounting database keeps its records (not a Slurm option)", Group: how},
	{Long: "hurry", Short: 'H', NoEffect: true, Help: "No effect", Group: how},
	{Long: "ctld", Short: 'c', NoEffect: true, Help: "No effect", Group: how},
	{Long: "sibling", Short: 'S', Arg: getopt.Required, Value: "NAME", NoEffect: true, Help: "No effect", Group: how},
	{Long: "cron", NoEffect: true, Help: "No effect", Group: how},
	{Long: "admin-comment", Arg: getopt.Required, Value: "TEXT", NoEffect: true, Help: "No effect", Group: how},
}}

// Scancel cancels and signals jobs.
var Scancel = program.Program{Table: &scancelTable, Run: runScancel,
	Short: "Cancel or signal jobs, array tasks and steps",
	Long: `
		Cancel jobs: their pods are stopped, but their records remain available to sacct.
		If several filters are given, only jobs that match all of them are cancelled.`,
	Example: `
		# A job and two tasks of an array
		vcctl slurm scancel 41 42_[3,7]

		# All your pending jobs
		vcctl slurm scancel --me -t PENDING

		# Send a signal that tells a script to write a checkpoint
		vcctl slurm scancel -s USR1 -b 42`,
}

func runScancel(ctx context.Context, c *program.Call) error {
	if err := c.RejectUnsupported(map[string]string{"reservation": program.NoReservations}); err != nil {
		return err
	}
	refs, err := program.ParseJobWords(c.Parsed.Operands)
	if err != nil {
		return err
	}
	filter, filtered, err := readScancelFilter(ctx, c)
	if err != nil {
		return err
	}
	if len(refs) == 0 && len(c.Parsed.Operands) > 0 {
		return usererror.Errorf("check for an unset shell variable", "Invalid job id specified: %q", strings.Join(c.Parsed.Operands, " "))
	}
	if len(refs) == 0 && !filtered {
		return usererror.Errorf("specify jobs such as 42 or 42_7, or use a filter: --me, -u, -p, -n, -t", "No job identification provided")
	}
	signal, err := readScancelSignal(c)
	if err != nil {
		return err
	}
	return c.InClusters(func(one *program.Call, _ bool) error {
		s := &scancel{Call: one, refs: refs, filter: filter, signal: signal}
		return s.cancelTargets(ctx)
	})
}

// readScancelFilter parses the filters. filtered reports whether any filter is specified.
func readScancelFilter(ctx context.Context, c *program.Call) (f squeue.Filter, filtered bool, err error) {
	one := func(variable string, options ...string) []string {
		for _, option := range options {
			if value, ok := c.OptionOrVariable(option, variable); ok {
				filtered = true
				named := program.SplitList(value)
				if len(named) == 0 && err == nil { // for example, an unset variable, which does not mean all jobs
					err = program.EmptyOptionError(option)
				}
				return named
			}
		}
		return nil
	}
	f.Accounts, f.Names = one("SCANCEL_ACCOUNT", "account"), one("SCANCEL_NAME", "jobname", "name")
	f.Partitions, f.QOS = one("SCANCEL_PARTITION", "partition"), one("SCANCEL_QOS", "qos")
	f.Users, f.WCKeys = one("SCANCEL_USER", "user"), one("SCANCEL_WCKEY", "wckey")
	if c.Parsed.Has("me") {
		f.Users, filtered = c.ListOwnUserNames(ctx), true
	}
	hosts := strings.Join(one("", "nodelist"), ",")
	if err != nil {
		return f, filtered, err
	}
	if hosts != "" {
		if f.Nodes, err = hostlist.ExpandList(hosts); err != nil {
			return f, filtered, program.InvalidNodesError(hosts)
		}
	}
	f.States = nil
	if text, ok := c.OptionOrVariable("state", "SCANCEL_STATE"); ok {
		filtered = true
		code, known := state.ParseCode(text)
		if !known || !slices.Contains([]state.Code{state.Pending, state.Running, state.Suspended}, code) {
			return f, filtered, usererror.Errorf("squeue lists jobs with their states; jobs that have ended cannot be cancelled", "Invalid job state: %s\nValid job states are: PENDING, RUNNING, SUSPENDED", text)
		}
		f.States = []state.Code{code}
		if code == state.Running {
			f.States = append(f.States, state.Configuring)
		}
	}
	return f, filtered, nil
}

// readScancelSignal returns the name of the signal to send, or "" to cancel the job.
func readScancelSignal(c *program.Call) (string, error) {
	text, ok := c.Parsed.LastValue("signal")
	switch {
	case !ok && c.Parsed.Has("batch"): // ends the script only
		return "KILL", nil
	case !ok:
		return "", nil
	}
	number, err := optionvalue.SignalNumber(text)
	if err != nil {
		return "", usererror.Errorf("specify a signal by name, such as USR1 or SIGTERM, or by number", "Unknown job signal: %s", text)
	}
	return optionvalue.SignalName(number), nil
}

func (s *scancel) cancelTargets(ctx context.Context) error {
	var err error
	// Pods are needed for the node filter, because only they show the nodes, and for sending signals and cancelling
	// steps, because that is done in the pods. For arrays, only the pods show which elements are running, and on
	// which nodes.
	steps := slices.ContainsFunc(s.refs, func(ref optionvalue.Job) bool { return ref.Step != "" })
	send := s.signal != "" || steps
	if s.view, err = clusterdata.ReadView(ctx, s.Call, clusterdata.Wants{Named: s.refs, Pods: len(s.filter.Nodes) > 0 || send, Facts: !send}); err != nil {
		return err
	}
	if len(s.filter.States) > 0 {
		if err := s.view.ReadPodsOfArrays(ctx); err != nil {
			return err
		}
	}
	targets, problems := s.findTargets()
	for _, t := range targets {
		if ok, err := s.confirmTarget(t); err != nil || !ok {
			problems = append(problems, err)
			continue
		}
		if err := s.cancelTarget(ctx, t); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// confirmTarget asks the user to confirm a target if -i is specified.
func (s *scancel) confirmTarget(t target) (bool, error) {
	if !s.Parsed.Has("interactive") && s.Factory.Streams.Env("SCANCEL_INTERACTIVE") == "" {
		return true, nil
	}
	verb := "Cancel"
	if s.signal != "" {
		verb = "Signal"
	}
	if s.input == nil {
		s.input = bufio.NewReader(s.Factory.Streams.In)
	}
	fmt.Fprintf(s.Factory.Streams.Out, "%s job_id=%s name=%s partition=%s [y/n]? ", verb, t.ref, printable.EscapeLine(t.row.JobTitle()), printable.EscapeLine(t.row.PartitionName()))
	answer, err := s.input.ReadString('\n')
	if err != nil && answer == "" {
		return false, usererror.Errorf("omit -i if scancel runs without a terminal", "no answer")
	}
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y"), nil
}

// cancelTarget cancels or signals a job or some of its elements.
func (s *scancel) cancelTarget(ctx context.Context, t target) error {
	if s.Parsed.Has("verbose") || s.Factory.Streams.Env("SCANCEL_VERBOSE") != "" {
		what := "Terminating"
		if s.signal != "" {
			what = "Signal " + s.signal + " to"
		}
		fmt.Fprintf(s.Factory.Streams.Err, "scancel: %s job %s\n", what, t.ref)
	}
	switch {
	case s.signal != "" || t.step != "":
		return s.sendSignal(ctx, t)
	case s.Parsed.Has("purge") && t.elements != nil:
		return usererror.Errorf("omit --purge to cancel the tasks", "--purge deletes entire jobs, not individual array tasks: %s", t.ref)
	case s.Parsed.Has("purge"):
		return s.view.Client.Delete(ctx, t.row.Job, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &t.row.Job.UID})
	case t.elements != nil:
		return s.cancelElements(ctx, t)
	}
	return s.terminateJob(ctx, t.row)
}

// terminateJob records in an annotation who cancels the job, and then terminates the job. If the job cannot be
// terminated, it removes the annotation.
func (s *scancel) terminateJob(ctx context.Context, r *listrow.Row) error {
	note := map[string]any{keys.CancelledBy: s.UserName()}
	if err := clusterdata.AnnotateJob(ctx, s.Call, r.Job, note); err != nil {
		return err
	}
	if err := s.view.Client.Create(ctx, clusterops.JobCommand(r.Job, busv1alpha1.TerminateJobAction)); err != nil {
		return errors.Join(err, clusterdata.AnnotateJob(ctx, s.Call, r.Job, previousAnnotations(r.Job, note)))
	}
	return nil
}
