package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

const (
	// comeTime is how long an interactive allocation waits for its first session.
	comeTime = 5 * time.Minute
	// leaveTime is how long an interactive allocation continues after its last session, and how long a job continues
	// for an sattach that watches its last step, so that the result can still be received.
	leaveTime = time.Second
)

// launcher runs a job's script in the head. In the other pods, it runs only the agent.
type launcher struct {
	dirs  directories
	spec  launchconfig.Spec
	pod   launchconfig.Pod
	place launchconfig.Place
	agent *agent
	head  *head
	// roll records which nodes are connected.
	roll *roll
	// start is the time from which the job's run time is counted.
	start time.Time

	mu      sync.Mutex // guards the fields below
	script  *process
	asked   *endRequest
	left    int           // exit code of the last interactive session
	warning *time.Timer   // timer for the signal of --signal; nil without this option
	errors  io.Writer     // error output of the script, and of messages about the script
	stop    chan struct{} // closed when the job must end
}

// Launch is the main function of a job's pod. In the head, it runs the script; in other pods, it runs the agent until
// the job is over. It returns the exit code.
func Launch(ctx context.Context) int {
	if code, is := asInit(); is {
		return code
	}
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	l := &launcher{dirs: directoriesOf(os.Getenv), roll: newRoll(), stop: make(chan struct{}), errors: os.Stderr, left: 1}
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
	if l.pod, err = launchconfig.PodOf(os.Getenv); err != nil {
		return 1, err
	}
	if l.place, err = launchconfig.PlaceOf(&l.spec, &l.pod); err != nil {
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
	l.start = l.dirs.began(time.Now())
	if l.place.Head() {
		l.agent.ready, l.agent.attend = make(chan struct{}), l.roll.attend
	}
	for _, listener := range listeners {
		go l.agent.serve(listener)
	}
	if !l.place.Head() {
		return l.attendSteps(ctx), nil
	}
	defer l.sendHome(ctx) // do this even if the head fails to start
	if err := l.prepareHead(ctx); err != nil {
		return 1, err
	}
	close(l.agent.ready)
	return l.lead(ctx)
}

// listen creates the agent and its listeners. A job with a single pod does not listen on the network.
func (l *launcher) listen() ([]net.Listener, error) {
	l.agent = &agent{container: os.Environ(), own: []string{"SLURMD_NODENAME=" + l.pod.Node}, oom: oomKills{read: readOOMKills, claimed: readOOMKills()}}
	if len(l.place.Hosts) == 1 {
		return listen(l.dirs.socket(), "", nil)
	}
	key, err := l.dirs.readIdentity()
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("the job has several pods but no key that authenticates them to each other")
	}
	return listen(l.dirs.socket(), portAddress(l.pod.Address), key)
}

// prepareHead determines the job's nodes and prepares the environment of the script.
func (l *launcher) prepareHead(ctx context.Context) error {
	if l.spec.Exclusive {
		l.spec.CPUs = max(l.spec.CPUs, runtime.NumCPU())
	}
	hosts := l.present(ctx)
	l.head = newHead(&l.spec, &l.pod, hosts)
	l.head.start, l.head.container = l.start, l.agent.container
	l.head.signalScript, l.head.end, l.head.session, l.head.notify = l.signalScript, l.endBy, l.sessions(), l.notify
	l.head.limitChanged = l.limitChanged
	l.agent.head = l.head.answer
	slots := launchconfig.Spread(l.spec.TasksOf(len(hosts)), len(hosts), l.spec.TasksPerNode)
	if err := os.WriteFile(l.dirs.hostfile(), []byte(launchconfig.Hostfile(hosts, slots)), 0o644); err != nil {
		return err
	}
	l.head.script = l.environment(hosts)
	return nil
}

// environment returns the script's environment: the variables of the container, the submitted variables, and Slurm's
// variables.
func (l *launcher) environment(hosts []string) []string {
	exported, user := l.dirs.readExported(), currentUser()
	exported = slices.DeleteFunc(exported, func(entry string) bool { return strings.HasPrefix(entry, "VC_") }) // these variables identify the pod
	env := launchconfig.Merge(
		launchconfig.Login(&l.spec, user), launchconfig.VisibleGPUs(&l.spec),
		launchconfig.Meeting(&l.pod, hosts), launchconfig.MPI(l.dirs.hostfile(), filepath.Join(l.dirs.bin(), rshName), os.Getuid() == 0),
		l.agent.container, exported, launchconfig.Environment(&l.spec, &l.pod, hosts, l.start), launchconfig.Identity(user),
	)
	return launchconfig.Merge(env, []string{"PATH=" + l.dirs.bin() + ":" + pathOf(env)})
}

// defaultPath is the PATH of a container whose image does not set one.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func pathOf(env []string) string {
	if path := launchconfig.Value(env, "PATH"); path != "" {
		return path
	}
	return defaultPath
}

// lead runs the script, or waits until the interactive allocation is released, and ends the job.
func (l *launcher) lead(ctx context.Context) (int, error) {
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-ctx.Done():
			select {
			case <-over: // the context ended because the job is over
			default:
				l.cancelled()
			}
		case <-l.stop:
		case <-over:
		}
	}()
	if l.spec.Interactive {
		defer l.signalBeforeLimit()()
		<-l.stop
		e := sessionEnding(l.leftWith(), l.head.job().Steps)
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
