package submit

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/getopt/noeffect"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
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
var srunTable = request.OptionTable(request.Srun, "COMMAND [ARGS...]").WithMissing(srunoptions.Table.Options...)

// Srun runs a command in all tasks of an allocation.
var Srun = program.Program{Table: srunTable, Run: runSrun,
	Short: "Run a command in all tasks of an allocation",
	Long: `
		Request an allocation, run a command in each of its tasks, show their output, and
		end the allocation. The exit code is the highest exit code of the tasks; codes
		above 128 indicate a signal. Ctrl-C shows the status; another Ctrl-C within one second
		ends the tasks. Inside a job, srun starts a step on the nodes of the job; use
		--jobid to do this from outside the job.`,
	Example: `
		# On four nodes, with the task number before each line
		vcctl slurm srun -N4 -l hostname

		# An interactive shell
		vcctl slurm srun --pty bash

		# A shell in a running job
		vcctl slurm srun --jobid=42 --overlap --pty bash`,
}

func runSrun(ctx context.Context, c *program.Call) error {
	if types, _ := c.Parsed.LastValue("mpi"); types == "list" {
		_, err := io.WriteString(c.Factory.Streams.Out, "MPI plugin types are...\n\tnone\n")
		return err
	}
	if len(c.Parsed.Operands) == 0 {
		return usererror.Errorf("specify a command, for example srun -n2 hostname", "No command given to execute.")
	}
	c.Parsed.Given = append(stepsFromEnvironment(c), c.Parsed.Given...)
	run, err := readStep(c)
	if err != nil {
		return err
	}
	defer run.closeFiles()
	if id, given := c.Parsed.LastValue("jobid"); given {
		a, err := attach.FindRunningAllocation(ctx, c, id, "Unable to create step for job "+id)
		if err != nil {
			return err
		}
		return run.runStep(ctx, a, "enter")
	}
	operand := c.Parsed.Operands[0]
	a, err := submitAllocation(ctx, c, request.Srun, operand[strings.LastIndex(operand, "/")+1:], ofSteps)
	if a == nil || err != nil {
		return err
	}
	return run.runStep(ctx, a, "session")
}

// stepRun is a step that srun runs in an allocation.
type stepRun struct {
	*program.Call
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
func readStep(c *program.Call) (*stepRun, error) {
	r := &stepRun{Call: c, input: c.Factory.Streams.In}
	within := c.Parsed.Has("jobid")
	for _, given := range c.Parsed.Given {
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
			r.args = append(r.args, attach.FormatOption(given))
		case slices.Contains(ofSteps, given.Name) && given.Name != "jobid", within && isStepOption(given.Name):
			r.args = append(r.args, attach.FormatOption(given))
		case within && noeffect.IsListed(given.Name): // a pod that was started before an upgrade may not know the option
			if c.Parsed.Has("verbose") {
				c.PrintNotef("note", "%s has no effect", attach.FormatOption(given))
			}
		case within && !slices.Contains(ofSubmission, given.Name):
			c.PrintNotef("warning", "%s has no effect with --jobid: the job already has its nodes", attach.FormatOption(given))
		}
	}
	if mode, _ := c.Parsed.LastValue("input"); mode == "none" {
		r.input = nil
	}
	s := c.Factory.Streams
	r.terminal = c.Parsed.Has("pty") && s.InTTY && s.OutTTY
	r.args = append(append(r.args, "--"), c.Parsed.Operands...)
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
	return srunoptions.Table.HasOption(name) && !noeffect.IsListed(name)
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

// isSharedFile reports whether a pattern names a single file for all tasks, which this process writes.
func isSharedFile(pattern string) bool {
	task, node := launchconfig.PatternScope(pattern)
	return !task && !node
}

// openOutputs opens the files that are specified with --output and --error and that this process writes.
func (r *stepRun) openOutputs(a *attach.Allocation) (out, failed io.Writer, err error) {
	out, failed = r.Factory.Streams.Out, r.Factory.Streams.Err
	opened := map[string]*os.File{}
	for _, one := range []struct {
		pattern string
		to      *io.Writer
	}{{r.out, &out}, {r.err, &failed}} {
		if one.pattern == "" {
			continue
		}
		names := launchconfig.Names{JobID: a.ID, ArrayID: a.ID, ArrayIndex: -1, User: r.UserName(), JobName: a.Job.Annotations[keys.JobTitle], Step: "0"}
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
func (r *stepRun) runStep(ctx context.Context, a *attach.Allocation, how string) error {
	out, failed, err := r.openOutputs(a)
	if err != nil {
		if how == "session" {
			cancelJob(ctx, a)
		}
		return err
	}
	streams := attach.StandardStreams(r.Call)
	streams.Stdin, streams.Stdout, streams.Stderr = r.input, out, failed
	working, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	ended := make(chan error, 1)
	go func() {
		code, err := a.ExecInHead(working, attach.Session{Command: append([]string{launchconfig.Program, how, "srun"}, r.args...), Terminal: r.terminal, Streams: streams})
		switch {
		case err == nil:
			err = attach.ExitStatus(code)
		case how == "session":
			cancelJob(ctx, a) // the allocation would never be used
		}
		ended <- err
	}()
	return r.superviseStep(ctx, a, how, ended)
}

// forceTime is the maximum time that tasks may take to end after Ctrl-C.
const forceTime = 5 * time.Second

// superviseStep waits for a step to end. The first Ctrl-C prints the status. A second one within a second, or a signal
// other than Ctrl-C, interrupts the tasks. If the tasks do not end within forceTime, or if another signal arrives,
// superviseStep cancels the allocation, provided that srun created it, and returns.
func (r *stepRun) superviseStep(ctx context.Context, a *attach.Allocation, how string, ended <-chan error) error {
	received, stop := attach.CaptureInterrupts()
	defer stop()
	var asked time.Time
	var force <-chan time.Time
	for {
		select {
		case err := <-ended:
			return err
		case <-force:
			printStatusf(a, "forcing job termination")
			if how == "session" {
				cancelJob(ctx, a)
			}
			return cli.ExitStatus(program.Interrupted)
		case s := <-received:
			switch {
			case s == os.Interrupt && time.Since(asked) > time.Second && force == nil:
				asked = time.Now()
				printStatusf(a, "interrupt (one more within 1 sec to abort)")
				printStatusf(a, "job %s: running", a.ID)
			case force == nil:
				printStatusf(a, "sending Ctrl-C to job %s", a.ID)
				force = time.After(forceTime)
				go interruptTasks(ctx, a)
			default:
				force = time.After(0)
			}
		}
	}
}

// interruptTasks sends SIGINT to the tasks of an allocation.
func interruptTasks(ctx context.Context, a *attach.Allocation) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), forceTime)
	defer stop()
	streams := attach.StandardStreams(a.Call)
	streams.Stdin = nil
	_, _ = a.ExecInHead(ctx, attach.Session{Command: []string{launchconfig.Program, "signal", "--signal=INT"}, Streams: streams})
}
