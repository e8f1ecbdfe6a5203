package slurm

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/step/srunoptions"
	"github.com/vc-batch/vc/internal/usererror"
)

// ofSteps lists the options that affect only a step and not the allocation that srun creates for it. They are passed
// to the srun in the pod.
var ofSteps = stepOnlyNames(&srunoptions.Table)

func stepOnlyNames(t *getopt.Table) []string {
	var names []string
	for i := range t.Options {
		if t.Options[i].StepOnly {
			names = append(names, t.Options[i].Long)
		}
	}
	return names
}

// srunTable contains the options of allocations and of steps.
var srunTable = withStepOptions(request.OptionTable(request.Srun, "COMMAND [ARGS...]"))

func withStepOptions(t *getopt.Table) *getopt.Table {
	for _, o := range srunoptions.Table.Options {
		isCommon := slices.Contains([]string{"help", "usage", "version"}, o.Long)
		if isCommon || t.HasOption(o.Long) {
			continue
		}
		if slices.ContainsFunc(t.Options, func(other getopt.Option) bool { return other.Short == o.Short }) {
			o.Short = 0
		}
		t = t.WithOptions(o)
	}
	return t
}

func newSrun(f *cli.Factory) *cobra.Command {
	return newProgramCommand(f, program{table: srunTable, run: runSrun,
		short: "Run a command in all tasks of an allocation",
		long: `
			Request an allocation, run a command in each of its tasks, show their output, and
			end the allocation. The exit code is the highest exit code of the tasks; codes
			above 128 mean a signal. Ctrl-C shows the status; a second Ctrl-C within a second
			ends the tasks. Inside a job, srun starts a step on the nodes of the job; use
			--jobid to do this from outside the job.`,
		example: `
			# On four nodes, with the task number before each line
			vcctl slurm srun -N4 -l hostname

			# An interactive shell
			vcctl slurm srun --pty bash

			# A shell in a running job
			vcctl slurm srun --jobid=42 --overlap --pty bash`,
	})
}

func runSrun(ctx context.Context, c *call) error {
	if types, _ := c.parsed.LastValue("mpi"); types == "list" {
		_, err := io.WriteString(c.f.Streams.Out, "MPI plugin types are...\n\tnone\n")
		return err
	}
	if len(c.parsed.Operands) == 0 {
		return usererror.Errorf("specify a command, for example srun -n2 hostname", "No command given to execute.")
	}
	c.parsed.Given = append(c.stepsFromEnvironment(), c.parsed.Given...)
	run, err := c.readStep()
	if err != nil {
		return err
	}
	defer run.closeFiles()
	if id, given := c.parsed.LastValue("jobid"); given {
		a, err := c.runningAllocation(ctx, id, "Unable to create step for job "+id)
		if err != nil {
			return err
		}
		return run.runStep(ctx, a, "enter")
	}
	operand := c.parsed.Operands[0]
	a, err := c.submitAllocation(ctx, request.Srun, operand[strings.LastIndex(operand, "/")+1:], ofSteps)
	if a == nil || err != nil {
		return err
	}
	return run.runStep(ctx, a, "session")
}

// stepRun is a step that srun runs in an allocation.
type stepRun struct {
	*call
	// args holds the arguments of the srun in the pod.
	args     []string
	terminal bool
	input    io.Reader
	out, err string // patterns for the files that this process writes
	keep     bool
	files    []*os.File
}

// readStep parses the options of the step. It opens input files on this machine and collects the arguments of the
// srun in the pod.
func (c *call) readStep() (*stepRun, error) {
	r := &stepRun{call: c, input: c.f.Streams.In}
	within := c.parsed.Has("jobid")
	for _, given := range c.parsed.Given {
		switch {
		case given.Name == "input" && isFile(given.Value):
			file, err := os.Open(given.Value)
			if err != nil {
				return nil, usererror.Errorf("specify a file that you can read, or --input=none for no input", "Could not open stdin file %s: %v", given.Value, err)
			}
			r.input, r.files = file, append(r.files, file)
		case given.Name == "output" && isFile(given.Value) && isSharedFile(given.Value):
			r.out = given.Value
		case given.Name == "error" && isFile(given.Value) && isSharedFile(given.Value):
			r.err = given.Value
		case given.Name == "open-mode":
			r.keep = strings.HasPrefix(given.Value, "a")
			r.args = append(r.args, formatOption(given))
		case slices.Contains(ofSteps, given.Name) && given.Name != "jobid", within && isStepOption(given.Name):
			r.args = append(r.args, formatOption(given))
		case within && !slices.Contains(ofSubmission, given.Name):
			c.printNotef("warning", "%s has no effect with --jobid: the job already has its nodes", formatOption(given))
		}
	}
	if mode, _ := c.parsed.LastValue("input"); mode == "none" {
		r.input = nil
	}
	s := c.f.Streams
	r.terminal = c.parsed.Has("pty") && s.InTTY && s.OutTTY
	r.args = append(append(r.args, "--"), c.parsed.Operands...)
	return r, nil
}

// ofSubmission lists the options that are handled by this process or that select the job.
var ofSubmission = []string{"jobid", "account", "partition", "clusters", "namespace", "context", "kubeconfig", "quiet", "verbose", "strict"}

// isStepOption reports whether an option is passed on to a step in an existing job.
func isStepOption(name string) bool {
	switch name {
	case "jobid", "account", "partition":
		return false // they select the job
	}
	return srunoptions.Table.HasOption(name)
}

// formatOption formats an option as one word.
func formatOption(g getopt.Given) string {
	if g.HasValue {
		return "--" + g.Name + "=" + g.Value
	}
	return "--" + g.Name
}

// isFile reports whether an input or output mode is a file name.
func isFile(mode string) bool {
	switch mode {
	case "", "all", "none":
		return false
	}
	_, err := strconv.Atoi(mode)
	return err != nil // a number is a task
}

// isSharedFile reports whether a pattern stands for a single file for all tasks, which this process writes.
func isSharedFile(pattern string) bool {
	task, node := launchconfig.PatternScope(pattern)
	return !task && !node
}

// openOutputs opens the files of --output and --error that this process writes.
func (r *stepRun) openOutputs(a *allocation) (out, failed io.Writer, err error) {
	out, failed = r.f.Streams.Out, r.f.Streams.Err
	opened := map[string]*os.File{}
	for _, one := range []struct {
		pattern string
		to      *io.Writer
	}{{r.out, &out}, {r.err, &failed}} {
		if one.pattern == "" {
			continue
		}
		names := launchconfig.Names{JobID: a.id, ArrayID: a.id, ArrayIndex: -1, User: r.userName(), JobName: a.job.Annotations[keys.JobTitle], Step: "0"}
		path, err := names.ExpandPattern(one.pattern)
		if err != nil {
			return nil, nil, err
		}
		if opened[path] == nil {
			flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
			if !r.keep {
				flags |= os.O_TRUNC
			}
			file, err := os.OpenFile(filepath.Clean(path), flags, 0o644)
			if err != nil {
				return nil, nil, usererror.Errorf("specify a file in an existing directory that you can write to", "Could not open file %s: %v", path, err)
			}
			opened[path], r.files = file, append(r.files, file)
		}
		*one.to = opened[path]
	}
	if r.err == "" && r.out != "" {
		failed = out
	}
	return out, failed, nil
}

func (r *stepRun) closeFiles() {
	for _, file := range r.files {
		_ = file.Close()
	}
}

// runStep runs the step with a subcommand of the launcher in the pod. With the subcommand "session", the allocation
// ends together with the step.
func (r *stepRun) runStep(ctx context.Context, a *allocation, how string) error {
	out, failed, err := r.openOutputs(a)
	if err != nil {
		if how == "session" {
			a.cancelJob(ctx)
		}
		return err
	}
	streams := r.standardStreams()
	streams.Stdin, streams.Stdout, streams.Stderr = r.input, out, failed
	working, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	ended := make(chan error, 1)
	go func() {
		code, err := a.execInHead(working, session{command: append([]string{launchconfig.Program, how, "srun"}, r.args...), terminal: r.terminal, streams: streams})
		switch {
		case err == nil:
			err = exitStatus(code)
		case how == "session":
			a.cancelJob(ctx) // the allocation would never be used
		}
		ended <- err
	}()
	return r.superviseStep(ctx, a, how, ended)
}

// forceTime is how long tasks may take to end after Ctrl-C.
const forceTime = 5 * time.Second

// superviseStep waits for the end of a step. The first Ctrl-C prints the status. A second one within a second
// interrupts the tasks. If the tasks do not end within forceTime, or on any other signal, attend cancels the
// allocation.
func (r *stepRun) superviseStep(ctx context.Context, a *allocation, how string, ended <-chan error) error {
	received, stop := captureInterrupts()
	defer stop()
	var asked time.Time
	var force <-chan time.Time
	for {
		select {
		case err := <-ended:
			return err
		case <-force:
			a.printStatusf("forcing job termination")
			if how == "session" {
				a.cancelJob(ctx)
			}
			return cli.ExitStatus(interrupted)
		case s := <-received:
			switch {
			case s == os.Interrupt && time.Since(asked) > time.Second && force == nil:
				asked = time.Now()
				a.printStatusf("interrupt (one more within 1 sec to abort)")
				a.printStatusf("job %s: running", a.id)
			case force == nil:
				a.printStatusf("sending Ctrl-C to job %s", a.id)
				force = time.After(forceTime)
				go a.interruptTasks(ctx)
			default:
				force = time.After(0)
			}
		}
	}
}

// interruptTasks sends SIGINT to the tasks of an allocation.
func (a *allocation) interruptTasks(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), forceTime)
	defer stop()
	streams := a.standardStreams()
	streams.Stdin = nil
	_, _ = a.execInHead(ctx, session{command: []string{launchconfig.Program, "signal", "--signal=INT"}, streams: streams})
}

// runningAllocation returns the allocation of a running job. what is the beginning of the error message if the job does
// not run.
func (c *call) runningAllocation(ctx context.Context, id, what string) (*allocation, error) {
	named, err := parseJobWords([]string{id})
	if err != nil {
		return nil, err
	}
	v, err := c.readView(ctx, wants{named: named, pods: true})
	if err != nil {
		return nil, err
	}
	if len(v.jobs) == 0 {
		return nil, usererror.Errorf("squeue -t R lists running jobs", "Unable to confirm allocation for job %s: Invalid job id specified", id)
	}
	job := v.jobs[0]
	for _, pod := range v.pods[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}] {
		if pod.Labels[keys.TaskSpec] == launchconfig.HeadTask && pod.Status.Phase == corev1.PodRunning && isElement(pod, named[0]) {
			return &allocation{call: c, job: job, id: id, head: pod}, nil
		}
	}
	return nil, usererror.Errorf("squeue shows what it is waiting for, and sacct shows how it ended", "%s: Job is pending execution or has ended", what)
}

// isElement reports whether a pod belongs to the referenced element, or to the job if the reference does not specify
// an element.
func isElement(pod *corev1.Pod, named optionvalue.Job) bool {
	if named.Elements.Count() == 0 {
		return true
	}
	index, err := batchv1alpha1.ParseIndices(pod.Labels[keys.ArrayIndex])
	return err == nil && len(index) > 0 && named.Elements.Has(index[0].First)
}
