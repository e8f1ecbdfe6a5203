// Package srun runs a step. It requests the step from the head, starts the step's tasks through the agents on its
// nodes, forwards streams and signals, and reports how the tasks ended. In place of ssh, it also runs commands on other
// nodes for MPI libraries.
//
//	In:   arguments, standard input, signals; frames from the agents and the head
//	Out:  the tasks' output, messages, the exit code of the step
//
// # Concurrency
//
// Each node of the step has its own goroutine, as do the head, the input and the signals. The runner's mutex guards the
// results of the tasks.
package srun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/cmdutil"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/signals"
	"github.com/vc-batch/vc/internal/slurm/step/srunoptions"
	"github.com/vc-batch/vc/internal/slurm/step/taskio"
	"github.com/vc-batch/vc/internal/usererror"
)

// Run runs a command in the tasks of a step. It returns the exit code of the step.
func Run(ctx context.Context, args []string) int {
	table := srunoptions.Table.WithMissing(getopt.Information...)
	parsed, err := table.ParseArguments(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "srun: %v\nTry \"srun --help\" for more information\n", err)
		return 1
	}
	if done := cmdutil.PrintInformation(table, parsed); done {
		return 0
	}
	if mpi, _ := parsed.LastValue("mpi"); mpi == "list" {
		fmt.Fprint(os.Stdout, "MPI plugin types are...\n\tnone\n")
		return 0
	}
	if slices.Contains(parsed.Operands, ":") {
		return cmdutil.ReportError("srun", errors.New("heterogeneous jobs are not supported; use srun --multi-prog to run several programs in a step"))
	}
	code, err := runStepCommand(ctx, parsed)
	if err != nil {
		return max(code, cmdutil.ReportError("srun", err))
	}
	return code
}

func runStepCommand(ctx context.Context, parsed getopt.Parsed) (int, error) {
	options, err := srunoptions.Read(parsed, os.LookupEnv)
	if err != nil {
		return 1, err
	}
	client, err := jobclient.New()
	if err != nil {
		return 1, err
	}
	r := newRunner(client, options)
	if err := client.QueryHead(ctx, protocol.Request{Job: true}, &r.job); err != nil {
		return 1, err
	}
	if id := options.JobID; id != "" && id != r.job.Pod.SlurmJobID() && id != r.job.Pod.JobID {
		return 1, usererror.Errorf("remove --jobid", "--jobid=%s is not the current job (%s): a pod can access only its own job", id, r.job.Pod.SlurmJobID())
	}
	options.InheritGPUs(&r.job.Spec)
	idle := srunoptions.IneffectiveVariables(parsed, os.LookupEnv, r.job.Script)
	if parsed.Has("verbose") { // only with --verbose: the job's output contains srun's messages, and Slurm does not print these
		idle = append(idle, options.Ineffective...)
	}
	for _, option := range idle {
		r.printNotice("warning: " + option + " has no effect here")
	}
	return r.runStep(ctx)
}

func (r *runner) runStep(ctx context.Context) (int, error) {
	var err error
	if r.head, err = r.client.SendToHead(ctx, protocol.Request{Begin: &r.options.Begin}); err != nil {
		return 1, err
	}
	defer r.head.Close()
	if err := r.head.ReceiveAnswer(&r.given, r.printNotice); err != nil {
		return 1, err
	}
	if err := r.assignTasks(); err != nil {
		return 1, err
	}
	defer r.outputs.CloseFiles()
	restore := r.enterRawMode()
	defer restore()
	r.failures = newFailures(r.errors, r.options.Quiet)
	err = r.startNodes(ctx)
	if err == nil {
		err = r.attendTasks()
	}
	for _, n := range r.nodes {
		if n.conn != nil {
			_ = n.conn.Close()
		}
	}
	r.failures.printFailures()
	result := r.stepResult()
	if err != nil {
		result.Code = max(result.Code, 1)
	}
	if !r.listening { // no tasks were started
		go r.receiveFromHead()
	}
	if r.head.SendJSON(protocol.AnswerFrame, 0, result) == nil {
		select {
		case <-r.heard:
		case <-time.After(jobclient.DialTime):
		}
	}
	return r.exitCode(), err
}

// assignTasks creates the tasks of the step and numbers them node by node.
func (r *runner) assignTasks() error {
	var programs []program
	if r.options.MultiProg {
		text, err := os.ReadFile(r.options.Command[0])
		if err != nil {
			return slurmerror.Errorf("Unable to open configuration file %s: %w", r.options.Command[0], slurmerror.SystemReason(err))
		}
		if programs, err = parsePrograms(string(text)); err != nil {
			return fmt.Errorf("%s: %w", r.options.Command[0], err)
		}
	}
	total := 0
	for _, count := range r.given.Counts {
		total += count
	}
	names := r.client.FileNames(&r.job)
	names.Step = strconv.Itoa(r.given.Step)
	r.outputs = taskio.NewOutputs(&r.options.OutputOptions, names, total)
	rank := 0
	for i, host := range r.given.Hosts {
		n := &nodeTasks{host: host, first: rank, windows: map[int]*inputWindow{}}
		for local := range r.given.Counts[i] {
			t := protocol.Task{Rank: rank, Args: r.options.Command, Env: r.taskVariables(rank, local, i, n.first), Stdin: r.readsInput(rank)}
			if programs != nil {
				if t.Args = commandOfTask(programs, rank); t.Args == nil {
					return fmt.Errorf("%s: no line specifies a program for task %d", r.options.Command[0], rank)
				}
			}
			if err := r.outputs.OpenTask(rank, host, i); err != nil {
				return err
			}
			if t.Stdin {
				n.windows[rank] = newInputWindow()
			}
			n.tasks = append(n.tasks, t)
			rank++
		}
		r.nodes = append(r.nodes, n)
	}
	return nil
}

// readsInput reports whether a task receives srun's input.
func (r *runner) readsInput(rank int) bool {
	if r.options.PTY {
		return rank == 0
	}
	switch r.options.Input {
	case "none":
		return false
	case "", "all":
		return true
	}
	if only, err := strconv.Atoi(r.options.Input); err == nil {
		return only == rank
	}
	return true
}

// startNodes connects to all agents in parallel. It starts the tasks after all connections have been established.
func (r *runner) startNodes(ctx context.Context) error {
	env := r.stepVariables()
	width, height := uint16(0), uint16(0)
	if r.options.PTY {
		width, height = process.WindowSize(os.Stdin)
	}
	problems := make([]error, len(r.nodes))
	var all sync.WaitGroup
	for i, n := range r.nodes {
		all.Go(func() {
			reach, cancel := context.WithTimeout(ctx, jobclient.AgentTime)
			defer cancel()
			connection, err := r.client.ConnectToHost(reach, n.host)
			if err != nil {
				problems[i] = slurmerror.Errorf("Task launch for StepId=%s.%d failed on node %s: %w", r.job.Pod.SlurmJobID(), r.given.Step, n.host, err)
				return
			}
			n.conn = protocol.NewConn(connection)
		})
	}
	all.Wait()
	if err := errors.Join(problems...); err != nil {
		return err
	}
	// Register for signals before the first task runs, because a user may send a signal as soon as a task is visible.
	signal.Notify(r.received, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGALRM, syscall.SIGWINCH)
	for _, n := range r.nodes {
		ask := &protocol.TasksRequest{Step: r.given.Step, Dir: r.options.Dir, Env: env, Tasks: n.tasks, Terminal: r.options.PTY, Width: width, Height: height}
		if err := n.conn.SendJSON(protocol.AskFrame, 0, protocol.Request{Tasks: ask}); err != nil {
			return err
		}
	}
	return nil
}

// attendTasks forwards streams and signals until all tasks have ended.
func (r *runner) attendTasks() error {
	stop := make(chan struct{})
	defer close(stop)
	r.listening = true
	go r.receiveFromHead()
	go r.handleSignals(stop)
	r.feedInput()
	r.startTimers(stop)
	problems := make([]error, len(r.nodes))
	var all sync.WaitGroup
	for i, n := range r.nodes {
		all.Go(func() { problems[i] = r.followNode(n) })
	}
	all.Wait()
	return errors.Join(problems...)
}

// followNode handles the messages from a node's agent until all tasks on the node have ended.
func (r *runner) followNode(n *nodeTasks) error {
	for {
		f, err := n.conn.ReceiveFrame()
		if err != nil {
			return r.markLost(n)
		}
		rank := int(f.Task)
		switch f.Kind {
		case protocol.StdoutFrame, protocol.StderrFrame:
			r.outputs.WriteOutput(rank, f.Kind == protocol.StderrFrame, f.Data)
		case protocol.TakenFrame:
			n.windows[rank].giveRoom(false)
		case protocol.ExitFrame:
			var e protocol.Ending
			if json.Unmarshal(f.Data, &e) == nil {
				r.outputs.FlushTask(rank)
				r.recordEnding(n, rank, e)
			}
		case protocol.NoticeFrame:
			fmt.Fprintln(r.errors, "slurmstepd:", string(f.Data))
		case protocol.ErrorFrame:
			e := protocol.DecodeError(f.Data)
			return usererror.Errorf(e.Hint, "node %s: %s", n.host, e.What)
		case protocol.AnswerFrame:
			_ = n.conn.Close() // the agent waits for this, because it confirms that everything has arrived
			return nil
		}
	}
}

// markLost marks the remaining tasks of a node as killed, because the connection to the node's agent was lost.
func (r *runner) markLost(n *nodeTasks) error {
	r.mu.Lock()
	missing := 0
	for _, t := range n.tasks {
		if _, ended := r.ends[t.Rank]; !ended {
			missing++
			r.ends[t.Rank] = protocol.Ending{Signal: int(syscall.SIGKILL)}
		}
	}
	r.mu.Unlock()
	if missing == 0 {
		return nil
	}
	r.forwardSignal(int(syscall.SIGTERM)) // the step cannot continue without the node
	return slurmerror.Errorf("Node failure on %s", n.host)
}

func (r *runner) recordEnding(n *nodeTasks, rank int, e protocol.Ending) {
	n.windows[rank].giveRoom(true)
	r.mu.Lock()
	r.ends[rank] = e
	first, bad := len(r.ends) == 1, e.ShellStatus() != 0 && !r.failed
	r.failed = r.failed || e.ShellStatus() != 0
	r.mu.Unlock()
	if e.Problem != "" {
		fmt.Fprintf(r.errors, "slurmstepd: error: execve(): %s: %s\n", n.tasks[rank-n.first].Args[0], e.Problem)
	}
	r.failures.addFailure(n.host, rank, e)
	if bad && r.options.KillOnBadExit {
		r.failures.printFailures()
		r.printNotice(fmt.Sprintf("Terminating StepId=%s.%d", r.job.Pod.SlurmJobID(), r.given.Step))
		r.terminateTasks()
	}
	if first && r.options.Wait > 0 {
		time.AfterFunc(r.options.Wait, func() {
			r.printNotice(fmt.Sprintf("First task exited %ds ago", int(r.options.Wait.Seconds())))
			r.terminateTasks()
		})
	}
}

// stepResult returns the result of the step, which is sent to the head.
func (r *runner) stepResult() launchconfig.Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := launchconfig.Step{Cancelled: r.cancelled}
	for _, e := range r.ends {
		s.Code = max(s.Code, e.Code)
		if s.Signal == 0 || e.Signal == signals.NoMemory {
			s.Signal = e.Signal
		}
		s.CPUMillis += e.CPUMillis
		s.MaxRSS = max(s.MaxRSS, e.MaxRSS)
	}
	return s
}

// exitCode returns srun's exit code, which is the highest exit code of its tasks.
func (r *runner) exitCode() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	code := 0
	for _, e := range r.ends {
		code = max(code, e.ShellStatus())
	}
	return code
}
