package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launch"
)

const (
	// comeTime is how long an interactive allocation waits for whoever made it.
	comeTime = 5 * time.Minute
	// leaveTime is how long an interactive allocation outlives its session, so that whoever looks on hears how it ended.
	leaveTime = time.Second
	// partTime is how long an allocation that may be smaller waits for the rest of its nodes once there are enough.
	partTime = 2 * time.Second
)

// launcher runs a job's script, in the head.
type launcher struct {
	dirs  directories
	spec  launch.Spec
	pod   launch.Pod
	place launch.Place
	agent *agent
	head  *head
	start time.Time

	mu     sync.Mutex // guards what follows
	script *process
	asked  *endRequest
	left   int           // what an interactive session ended with
	errors io.Writer     // where the script's errors go, and what is said about it
	stop   chan struct{} // closed when the job is to end
}

// Launch is what a pod of a batch job runs: in the head the script, elsewhere the agent until the job is over. It returns the exit code.
func Launch(ctx context.Context) int {
	if code, is := asInit(); is {
		return code
	}
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	l := &launcher{dirs: directoriesOf(os.Getenv), start: time.Now(), stop: make(chan struct{}), errors: os.Stderr, left: 1}
	code, err := l.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "slurmstepd: error:", err)
	}
	return code
}

func (l *launcher) run(ctx context.Context) (int, error) {
	var err error
	if l.spec, err = l.dirs.readSpec(); err != nil {
		return 1, err
	}
	if l.pod, err = launch.PodOf(os.Getenv); err != nil {
		return 1, err
	}
	if l.place, err = launch.PlaceOf(&l.spec, &l.pod); err != nil {
		return 1, err
	}
	listeners, err := l.listen()
	if err != nil {
		return 1, err
	}
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close()
		}
	}()
	if l.place.Head() {
		if err := l.prepareHead(ctx); err != nil {
			return 1, err
		}
	}
	for _, listener := range listeners {
		go l.agent.serve(listener)
	}
	if !l.place.Head() {
		return l.attendSteps(ctx), nil
	}
	return l.lead(ctx)
}

// listen makes the agent; a job of one pod listens on no network.
func (l *launcher) listen() ([]net.Listener, error) {
	l.agent = &agent{container: os.Environ(), own: []string{"SLURMD_NODENAME=" + l.pod.Node}}
	if len(l.place.Hosts) == 1 {
		return listen(l.dirs.socket(), nil)
	}
	key, err := l.dirs.readIdentity()
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("the job has several pods and no key with which they could know each other")
	}
	return listen(l.dirs.socket(), key)
}

// attendSteps is all that a pod that is not the head does.
func (l *launcher) attendSteps(ctx context.Context) int {
	<-ctx.Done()
	l.agent.signal(int(syscall.SIGCONT))
	l.agent.signal(int(syscall.SIGTERM))
	patience, cancel := context.WithTimeout(context.Background(), killWait)
	defer cancel()
	l.agent.idle(patience)
	return 0
}

// prepareHead finds the nodes, and makes what the script is to find.
func (l *launcher) prepareHead(ctx context.Context) error {
	hosts := l.present(ctx)
	l.head = newHead(&l.spec, &l.pod, hosts)
	l.head.start, l.head.container = l.start, l.agent.container
	l.head.signalScript, l.head.end, l.head.session = l.signalScript, l.endBy, l.sessions()
	l.agent.head = l.head.answer
	slots := launch.Spread(l.spec.TasksOf(len(hosts)), len(hosts), l.spec.TasksPerNode)
	if err := os.WriteFile(l.dirs.hostfile(), []byte(launch.Hostfile(hosts, slots)), 0o644); err != nil {
		return err
	}
	l.head.script = l.environment(hosts)
	return nil
}

// present are the nodes that there are: all, or, of a job that may be smaller, those that answer once there are enough.
func (l *launcher) present(ctx context.Context) []string {
	hosts := l.place.Hosts
	if l.spec.MinNodes == 0 || l.spec.MinNodes >= len(hosts) {
		return hosts
	}
	there := make([]bool, len(hosts))
	there[0] = true
	var enoughSince time.Time
	for ctx.Err() == nil {
		count := 0
		for i, host := range hosts {
			there[i] = there[i] || reaches(host, l.pod.Job)
			if there[i] {
				count++
			}
		}
		if count >= l.spec.MinNodes && enoughSince.IsZero() {
			enoughSince = time.Now()
		}
		if count == len(hosts) || !enoughSince.IsZero() && time.Since(enoughSince) >= partTime {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	var present []string
	for i, host := range hosts {
		if there[i] {
			present = append(present, host)
		}
	}
	return present
}

// environment is what the script finds: what the container has and what came with the job, then what Slurm sets.
func (l *launcher) environment(hosts []string) []string {
	exported := l.dirs.readExported()
	env := launch.Merge(
		launch.Meeting(&l.pod, hosts), launch.MPI(l.dirs.hostfile(), filepath.Join(l.dirs.bin(), rshName), os.Getuid() == 0),
		l.agent.container, exported, launch.Environment(&l.spec, &l.pod, hosts, l.start),
	)
	return launch.Merge(env, []string{"PATH=" + l.dirs.bin() + ":" + pathOf(env)})
}

// defaultPath is the PATH of a container whose image says none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func pathOf(env []string) string {
	if path := launch.Value(env, "PATH"); path != "" {
		return path
	}
	return defaultPath
}

// lead runs the script, or waits for whoever uses the allocation, and ends the job.
func (l *launcher) lead(ctx context.Context) (int, error) {
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-ctx.Done():
			select {
			case <-over: // it is done because all is over
			default:
				l.cancelled()
			}
		case <-l.stop:
		case <-over:
		}
	}()
	if l.spec.Interactive {
		<-l.stop
		e := ending{Code: l.leftWith()}
		l.finish(e)
		return l.code(e), nil
	}
	e, err := l.runScript()
	if err != nil {
		e = ending{Code: 1}
	}
	l.finish(e)
	return l.code(e), err
}

// runScript runs the script to its end.
func (l *launcher) runScript() (ending, error) {
	out, err := openOutput(&l.spec, launch.NamesOf(&l.spec, &l.pod, l.place))
	if err != nil {
		return ending{}, err
	}
	defer out.close()
	l.mu.Lock()
	l.errors = out.stderr
	l.mu.Unlock()
	program, err := l.copyScript()
	if err != nil {
		return ending{}, err
	}
	dir := l.spec.WorkDir
	if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
		fmt.Fprintf(os.Stderr, "slurmstepd: error: couldn't chdir to `%s': No such file or directory: going to /tmp instead\n", dir)
		dir = "/tmp"
	}
	t := &task{Args: append([]string{program}, l.spec.Args...)}
	if t.input, err = l.openInput(); err != nil {
		return ending{}, err
	}
	l.mu.Lock()
	l.script, err = startProcess(t, dir, l.head.script, nil, out.stdout, out.stderr)
	script := l.script
	l.mu.Unlock()
	if err != nil {
		return ending{}, fmt.Errorf("execve(): %s: %w", interpreter(program), reasonOf(err))
	}
	if l.isStopped() {
		script.signal(int(syscall.SIGTERM))
	}
	defer l.signalBeforeLimit()()
	return script.wait(), nil
}

// copyScript puts the script where it can be run, whatever becomes of the ConfigMap.
func (l *launcher) copyScript() (string, error) {
	text, err := os.ReadFile(filepath.Join(l.dirs.spec, launch.ScriptKey))
	if err != nil {
		return "", fmt.Errorf("the script: %w", err)
	}
	path := l.dirs.script()
	_ = os.Remove(path) // a run before may have been somebody else's
	return path, os.WriteFile(path, text, 0o755)
}

// openInput opens the file of --input; nil is nothing to read.
func (l *launcher) openInput() (*os.File, error) {
	if l.spec.Input == "" {
		return nil, nil
	}
	path, err := launch.NamesOf(&l.spec, &l.pod, l.place).Expand(l.spec.Input)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.spec.WorkDir, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, says("Could not open stdin file %s: %w", path, reasonOf(err))
	}
	return file, nil
}

// signalBeforeLimit sends the signal of --signal at its time; the function that it returns calls that off.
func (l *launcher) signalBeforeLimit() (callOff func()) {
	s := l.spec.Signal
	if s == nil || l.spec.TimeLimit == 0 {
		return func() {}
	}
	wait := time.Duration(l.spec.TimeLimit-s.Seconds)*time.Second - time.Since(l.start)
	timer := time.AfterFunc(max(wait, 0), func() {
		_ = l.head.signal(&signalRequest{Number: s.Number, Batch: s.Batch, Steps: !s.Batch, Step: -1})
	})
	return func() { timer.Stop() }
}

func (l *launcher) signalScript(number int, alone bool) {
	l.mu.Lock()
	script := l.script
	l.mu.Unlock()
	switch {
	case script == nil:
	case alone:
		script.signalAlone(number)
	default:
		script.signal(number)
	}
}

// endBy ends the job because somebody inside asked for it.
func (l *launcher) endBy(r endRequest) {
	l.mu.Lock()
	if r.Leave {
		l.left = r.Code
		l.mu.Unlock()
		return
	}
	first := l.asked == nil
	if first {
		l.asked = &r
	}
	l.mu.Unlock()
	if !first {
		return
	}
	why := ""
	switch {
	case r.Requeue:
		why = " DUE TO JOB REQUEUE"
	case !r.Cancel:
		l.stopAll()
		return
	}
	l.tell(why)
	l.stopAll()
}

// cancelled ends the job because its pod is going away.
func (l *launcher) cancelled() {
	why := ""
	if limit := time.Duration(l.spec.TimeLimit) * time.Second; limit > 0 && time.Since(l.start) >= limit-2*time.Second {
		why = " DUE TO TIME LIMIT"
	}
	l.tell(why)
	l.stopAll()
}

func (l *launcher) tell(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.errors, "slurmstepd: error: *** JOB %s ON %s CANCELLED AT %s%s ***\n", l.pod.ID(), l.place.Host(), time.Now().Format("2006-01-02T15:04:05"), why)
}

// stopAll asks steps and script to end, and makes them after a while.
func (l *launcher) stopAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.stop:
		return
	default:
	}
	close(l.stop)
	l.head.close()
	for _, number := range []syscall.Signal{syscall.SIGCONT, syscall.SIGTERM} {
		_ = l.head.signal(&signalRequest{Number: int(number), Steps: true, Step: -1})
		if l.script != nil {
			l.script.signal(int(number))
		}
	}
	time.AfterFunc(stopWait, func() {
		l.signalScript(int(syscall.SIGKILL), false)
		l.head.cut()
	})
}

// stopWait is how long script and steps have to end, as Slurm's KillWait.
const stopWait = 30 * time.Second

func (l *launcher) isStopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// finish ends what the script left, and leaves the report.
func (l *launcher) finish(e ending) {
	l.head.close()
	if l.head.liveSteps() > 0 || l.groupLives() {
		_ = l.head.signal(&signalRequest{Number: int(syscall.SIGTERM), Steps: true, Step: -1})
		l.killGroup(syscall.SIGTERM)
		l.waitForRest()
		l.head.cut()
		l.killGroup(syscall.SIGKILL)
	}
	patience, cancel := context.WithTimeout(context.Background(), killWait)
	defer cancel()
	l.agent.idle(patience)
	report := launch.Report{Code: e.Code, Signal: e.Signal, Usage: usageOfAll(), Steps: l.head.job().Steps}
	_ = os.WriteFile(l.dirs.termination, []byte(report.Text()), 0o666)
}

// waitForRest waits for steps and for what the script left behind, for a while.
func (l *launcher) waitForRest() {
	for deadline := time.Now().Add(killWait); time.Now().Before(deadline) && (l.head.liveSteps() > 0 || l.groupLives()); {
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *launcher) groupLives() bool { return l.killGroup(0) }

// killGroup reaches what the script left in its process group; false when there is nothing. The number cannot be somebody else's as long as one is left.
func (l *launcher) killGroup(number syscall.Signal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.script != nil && syscall.Kill(-l.script.command.Process.Pid, number) == nil
}

// code is the exit code of the container.
func (l *launcher) code(e ending) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.asked == nil:
		return e.status()
	case l.asked.Requeue:
		return launch.ExitRequeue
	case l.asked.Cancel:
		return launch.ExitCancelled
	}
	return l.asked.Code
}

func (l *launcher) leftWith() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// sessions ends an interactive allocation when its last session does, or when none comes.
func (l *launcher) sessions() func(bool) {
	var mu sync.Mutex
	open := 0
	lonely := time.AfterFunc(comeTime, func() {
		if l.spec.Interactive {
			l.endBy(endRequest{Cancel: true})
		}
	})
	return func(begun bool) {
		mu.Lock()
		defer mu.Unlock()
		lonely.Stop()
		if begun {
			open++
			return
		}
		if open--; open == 0 && l.spec.Interactive {
			time.AfterFunc(leaveTime, func() { l.endBy(endRequest{Code: l.leftWith()}) })
		}
	}
}

// usageOfAll is what all processes of this pod used that were waited for.
func usageOfAll() launch.Usage {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage) != nil {
		return launch.Usage{}
	}
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return launch.Usage{CPUMillis: used.Milliseconds(), MaxRSS: usage.Maxrss}
}

// interpreter names what could not be run: the script's interpreter where that is what is missing.
func interpreter(program string) string {
	file, err := os.Open(program)
	if err != nil {
		return program
	}
	defer file.Close()
	line := make([]byte, 256)
	n, _ := file.Read(line)
	name := firstWord(string(line[:n]))
	if name == "" {
		return program
	}
	return "bad interpreter(" + name + ")"
}

// reasonOf is the system's word for an error, without the call and the path that it came from.
func reasonOf(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return says("No such file or directory")
	case errors.As(err, &number):
		return number
	}
	return err
}
