package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/usererror"
)

// runner runs an srun command, from the start of its step to the end.
type runner struct {
	here    *here
	options *stepOptions
	job     jobAnswer
	given   beginAnswer
	head    *wire
	nodes   []*nodeTasks
	outputs *outputs
	errors  io.Writer
	// heard is closed when listenHead returns. listening is true once listenHead has been started. received delivers
	// the signals that srun itself receives.
	heard     chan struct{}
	received  chan os.Signal
	listening bool

	mu        sync.Mutex // guards the fields below
	ends      map[int]ending
	failed    bool
	cancelled bool
	sent      map[int]time.Time // when each signal was last sent
	failures  *failures
}

// nodeTasks holds the step's tasks on one node.
type nodeTasks struct {
	host  string
	first int // rank of the first task
	tasks []task
	wire  *wire
	rooms map[int]*room // by rank, for each task that receives input
}

// Srun runs a command in the tasks of a step. It returns the exit code of the step.
func Srun(ctx context.Context, args []string) int {
	parsed, err := SrunTable.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "srun: %v\nTry \"srun --help\" for more information\n", err)
		return 1
	}
	if done := informed(&SrunTable, parsed); done {
		return 0
	}
	if mpi, _ := parsed.Last("mpi"); mpi == "list" {
		fmt.Fprint(os.Stdout, "MPI plugin types are...\n\tnone\n")
		return 0
	}
	if slices.Contains(parsed.Operands, ":") {
		return report("srun", errors.New("heterogeneous jobs are not supported here: a step is one program; srun --multi-prog runs several"))
	}
	code, err := srun(ctx, parsed)
	if err != nil {
		return max(code, report("srun", err))
	}
	return code
}

func srun(ctx context.Context, parsed getopt.Parsed) (int, error) {
	options, err := readOptions(parsed, os.LookupEnv)
	if err != nil {
		return 1, err
	}
	h, err := findHere()
	if err != nil {
		return 1, err
	}
	r := newRunner(h, options)
	if err := h.question(ctx, request{Job: true}, &r.job); err != nil {
		return 1, err
	}
	if id := options.jobID; id != "" && id != r.job.Pod.ID() && id != r.job.Pod.JobID {
		return 1, usererror.Errorf("remove --jobid", "--jobid=%s is not this job, %s: inside a pod, only its own job can be reached", id, r.job.Pod.ID())
	}
	options.inherit(&r.job.Spec)
	idle := unheeded(parsed, os.LookupEnv, r.job.Script)
	if parsed.Has("verbose") { // only with --verbose: the job's output contains srun's messages, and Slurm does not print these
		idle = append(idle, options.idle...)
	}
	for _, option := range idle {
		r.notice("warning: " + option + " has no effect here")
	}
	return r.run(ctx)
}

func newRunner(h *here, o *stepOptions) *runner {
	return &runner{here: h, options: o, ends: map[int]ending{}, sent: map[int]time.Time{}, errors: os.Stderr, heard: make(chan struct{}), received: make(chan os.Signal, 16)}
}

func (r *runner) run(ctx context.Context) (int, error) {
	var err error
	if r.head, err = r.here.askHead(ctx, request{Begin: &r.options.begin}); err != nil {
		return 1, err
	}
	defer r.head.Close()
	if err := r.head.answer(&r.given, r.notice); err != nil {
		return 1, err
	}
	if err := r.assign(); err != nil {
		return 1, err
	}
	defer r.outputs.close()
	restore := r.terminal()
	defer restore()
	r.failures = newFailures(r.errors, r.options.quiet)
	err = r.start(ctx)
	if err == nil {
		err = r.attend()
	}
	for _, n := range r.nodes {
		if n.wire != nil {
			_ = n.wire.Close()
		}
	}
	r.failures.flush()
	result := r.result()
	if err != nil {
		result.Code = max(result.Code, 1)
	}
	if !r.listening { // no tasks were started
		go r.listenHead()
	}
	if r.head.sendJSON(answerFrame, 0, result) == nil {
		select {
		case <-r.heard:
		case <-time.After(dialTime):
		}
	}
	return r.code(), err
}

func (r *runner) notice(text string) {
	if !r.options.quiet {
		fmt.Fprintln(r.errors, "srun:", text)
	}
}

// assign creates the tasks and numbers them node by node.
func (r *runner) assign() error {
	var programs []program
	if r.options.multiProg {
		text, err := os.ReadFile(r.options.command[0])
		if err != nil {
			return says("Unable to open configuration file %s: %w", r.options.command[0], reasonOf(err))
		}
		if programs, err = parsePrograms(string(text)); err != nil {
			return fmt.Errorf("%s: %w", r.options.command[0], err)
		}
	}
	total := 0
	for _, count := range r.given.Counts {
		total += count
	}
	names := namesOf(&r.job, r.here)
	names.Step = strconv.Itoa(r.given.Step)
	r.outputs = newOutputs(r.options, names, total)
	rank := 0
	for i, host := range r.given.Hosts {
		n := &nodeTasks{host: host, first: rank, rooms: map[int]*room{}}
		for local := range r.given.Counts[i] {
			t := task{Rank: rank, Args: r.options.command, Env: r.taskEnv(rank, local, i, n.first), Stdin: r.reads(rank)}
			if programs != nil {
				if t.Args = argsOf(programs, rank); t.Args == nil {
					return fmt.Errorf("%s: no line applies to task %d", r.options.command[0], rank)
				}
			}
			if err := r.outputs.open(rank, host, i); err != nil {
				return err
			}
			if t.Stdin {
				n.rooms[rank] = newRoom()
			}
			n.tasks = append(n.tasks, t)
			rank++
		}
		r.nodes = append(r.nodes, n)
	}
	return nil
}

// reads reports whether a task receives srun's input.
func (r *runner) reads(rank int) bool {
	if r.options.pty {
		return rank == 0
	}
	switch r.options.input {
	case "none":
		return false
	case "", "all":
		return true
	}
	if only, err := strconv.Atoi(r.options.input); err == nil {
		return only == rank
	}
	return true
}

// start connects to all agents in parallel. It starts the tasks after all connections have been established.
func (r *runner) start(ctx context.Context) error {
	env := r.stepEnv()
	width, height := uint16(0), uint16(0)
	if r.options.pty {
		width, height = windowSize(os.Stdin)
	}
	problems := make([]error, len(r.nodes))
	var all sync.WaitGroup
	for i, n := range r.nodes {
		all.Go(func() {
			reach, cancel := context.WithTimeout(ctx, agentTime)
			defer cancel()
			connection, err := r.here.connect(reach, n.host)
			if err != nil {
				problems[i] = says("Task launch for StepId=%s.%d failed on node %s: %w", r.job.Pod.ID(), r.given.Step, n.host, err)
				return
			}
			n.wire = newWire(connection)
		})
	}
	all.Wait()
	if err := errors.Join(problems...); err != nil {
		return err
	}
	// Register for signals before the first task runs, because a user who sees a task may send signals immediately.
	signal.Notify(r.received, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGALRM, syscall.SIGWINCH)
	for _, n := range r.nodes {
		ask := &tasksRequest{Step: r.given.Step, Dir: r.options.dir, Env: env, Tasks: n.tasks, Terminal: r.options.pty, Width: width, Height: height}
		if err := n.wire.sendJSON(askFrame, 0, request{Tasks: ask}); err != nil {
			return err
		}
	}
	return nil
}

// attend forwards streams and signals until all tasks have ended.
func (r *runner) attend() error {
	stop := make(chan struct{})
	defer close(stop)
	r.listening = true
	go r.listenHead()
	go r.signals(stop)
	r.feedInput()
	r.timers(stop)
	problems := make([]error, len(r.nodes))
	var all sync.WaitGroup
	for i, n := range r.nodes {
		all.Go(func() { problems[i] = r.follow(n) })
	}
	all.Wait()
	return errors.Join(problems...)
}

// follow handles the messages from a node's agent until all tasks of the node have ended.
func (r *runner) follow(n *nodeTasks) error {
	for {
		f, err := n.wire.receive()
		if err != nil {
			return r.lost(n)
		}
		rank := int(f.task)
		switch f.kind {
		case stdoutFrame, stderrFrame:
			r.outputs.write(rank, f.kind == stderrFrame, f.data)
		case takenFrame:
			n.rooms[rank].give(false)
		case exitFrame:
			var e ending
			if json.Unmarshal(f.data, &e) == nil {
				r.outputs.flush(rank)
				r.ended(n, rank, e)
			}
		case noticeFrame:
			fmt.Fprintln(r.errors, "slurmstepd:", string(f.data))
		case errorFrame:
			e := errorOf(f.data)
			return usererror.Errorf(e.Hint, "node %s: %s", n.host, e.What)
		case answerFrame:
			_ = n.wire.Close() // the agent waits for this: it confirms that everything has arrived
			return nil
		}
	}
}

// lost marks the remaining tasks of a node as killed, because the connection to the node's agent was lost.
func (r *runner) lost(n *nodeTasks) error {
	r.mu.Lock()
	missing := 0
	for _, t := range n.tasks {
		if _, ended := r.ends[t.Rank]; !ended {
			missing++
			r.ends[t.Rank] = ending{Signal: int(syscall.SIGKILL)}
		}
	}
	r.mu.Unlock()
	if missing == 0 {
		return nil
	}
	r.pass(int(syscall.SIGTERM)) // the step cannot continue without the node
	return says("Node failure on %s", n.host)
}

func (r *runner) ended(n *nodeTasks, rank int, e ending) {
	n.rooms[rank].give(true)
	r.mu.Lock()
	r.ends[rank] = e
	first, bad := len(r.ends) == 1, e.status() != 0 && !r.failed
	r.failed = r.failed || e.status() != 0
	r.mu.Unlock()
	if e.Problem != "" {
		fmt.Fprintf(r.errors, "slurmstepd: error: execve(): %s: %s\n", n.tasks[rank-n.first].Args[0], e.Problem)
	}
	r.failures.add(n.host, rank, e)
	if bad && r.options.killOnBadExit {
		r.failures.flush()
		r.notice(fmt.Sprintf("Terminating StepId=%s.%d", r.job.Pod.ID(), r.given.Step))
		r.terminate()
	}
	if first && r.options.wait > 0 {
		time.AfterFunc(r.options.wait, func() {
			r.notice(fmt.Sprintf("First task exited %ds ago", int(r.options.wait.Seconds())))
			r.terminate()
		})
	}
}

// terminate ends all remaining tasks. After killWait, it kills them.
func (r *runner) terminate() {
	for _, number := range []syscall.Signal{syscall.SIGCONT, syscall.SIGTERM} {
		r.pass(int(number))
	}
	time.AfterFunc(killWait, func() { r.pass(int(syscall.SIGKILL)) })
}

// result returns the result of the step, for the head.
func (r *runner) result() launchconfig.Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := launchconfig.Step{Cancelled: r.cancelled}
	for _, e := range r.ends {
		s.Code = max(s.Code, e.Code)
		if s.Signal == 0 || e.Signal == signalNoMemory {
			s.Signal = e.Signal
		}
		s.CPUMillis += e.CPUMillis
		s.MaxRSS = max(s.MaxRSS, e.MaxRSS)
	}
	return s
}

// code returns srun's exit code, which is the highest exit code of its tasks.
func (r *runner) code() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	code := 0
	for _, e := range r.ends {
		code = max(code, e.status())
	}
	return code
}
