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

	"github.com/vc-batch/vc/internal/slurm/launch"
)

const (
	// comeTime is how long an interactive allocation waits for whoever made it.
	comeTime = 5 * time.Minute
	// leaveTime is how long an interactive allocation outlives its session, and a job an sattach to its last step, so that both see how it ended.
	leaveTime = time.Second
)

// launcher runs a job's script, in the head.
type launcher struct {
	dirs  directories
	spec  launch.Spec
	pod   launch.Pod
	place launch.Place
	agent *agent
	head  *head
	// roll is who of the nodes is there.
	roll *roll
	// start is when the time of the job began to count.
	start time.Time

	mu      sync.Mutex // guards what follows
	script  *process
	asked   *endRequest
	left    int           // what an interactive session ended with
	warning *time.Timer   // sends the signal of --signal; nil if there is none
	errors  io.Writer     // where the script's errors go, and what is said about it
	stop    chan struct{} // closed when the job is to end
}

// Launch is what a pod of a batch job runs: in the head the script, elsewhere the agent until the job is over. It returns the exit code.
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
	defer l.sendHome(ctx) // also where the head cannot begin
	if err := l.prepareHead(ctx); err != nil {
		return 1, err
	}
	close(l.agent.ready)
	return l.lead(ctx)
}

// listen makes the agent; a job of one pod listens on no network.
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
		return nil, errors.New("the job has several pods and no key with which they could know each other")
	}
	return listen(l.dirs.socket(), portAddress(l.pod.Address), key)
}

// prepareHead finds the nodes, and makes what the script is to find.
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
	slots := launch.Spread(l.spec.TasksOf(len(hosts)), len(hosts), l.spec.TasksPerNode)
	if err := os.WriteFile(l.dirs.hostfile(), []byte(launch.Hostfile(hosts, slots)), 0o644); err != nil {
		return err
	}
	l.head.script = l.environment(hosts)
	return nil
}

// environment is what the script finds: what the container has and what came with the job, then what Slurm sets.
func (l *launcher) environment(hosts []string) []string {
	exported, user := l.dirs.readExported(), currentUser()
	exported = slices.DeleteFunc(exported, func(entry string) bool { return strings.HasPrefix(entry, "VC_") }) // they say which pod this is
	env := launch.Merge(
		launch.Login(&l.spec, user), launch.VisibleGPUs(&l.spec),
		launch.Meeting(&l.pod, hosts), launch.MPI(l.dirs.hostfile(), filepath.Join(l.dirs.bin(), rshName), os.Getuid() == 0),
		l.agent.container, exported, launch.Environment(&l.spec, &l.pod, hosts, l.start), launch.Identity(user),
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
	defer l.signalBeforeLimit()()
	if l.spec.Interactive {
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
