package launcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/agent"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/stepmgr"
)

// Run is the main function of a job's pod. In the head, it runs the script. In the other pods, it runs the agent until
// the job is over. It returns the exit code.
func Run(ctx context.Context, _ []string) int {
	if code, is := runAsInit(); is {
		return code
	}
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	l := &launcher{dirs: jobclient.NewDirectories(os.Getenv), roll: newRoll(), stop: make(chan struct{}), errors: os.Stderr, left: 1}
	code, err := l.runPod(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "slurmstepd: error:", err)
	}
	return code
}

func (l *launcher) runPod(ctx context.Context) (int, error) {
	var err error
	if l.spec, err = l.dirs.ReadSpec(); err != nil {
		return 1, err
	}
	if l.pod, err = launchconfig.ReadPod(os.Getenv); err != nil {
		return 1, err
	}
	if l.place, err = launchconfig.FindPlace(&l.spec, &l.pod); err != nil {
		return 1, err
	}
	listeners, err := l.createAgent()
	if err != nil {
		return 1, err
	}
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close()
		}
	}()
	l.start = l.dirs.PodStart(time.Now())
	if l.place.IsHead() {
		l.agent.Ready, l.agent.Attend = make(chan struct{}), l.roll.keepConnected
	}
	for _, listener := range listeners {
		go l.agent.ServeConnections(listener)
	}
	if !l.place.IsHead() {
		return l.runNode(ctx), nil
	}
	defer l.endWaitingNodes(ctx) // necessary even if the head fails to start
	if err := l.prepareHead(ctx); err != nil {
		return 1, err
	}
	close(l.agent.Ready)
	return l.runHead(ctx)
}

// createAgent creates the agent and its listeners. A job with a single pod does not listen on the network.
func (l *launcher) createAgent() ([]net.Listener, error) {
	l.agent = agent.New(os.Environ(), []string{"SLURMD_NODENAME=" + l.pod.Node})
	if len(l.place.Hosts) == 1 {
		return agent.OpenListeners(l.dirs.SocketPath(), "", nil)
	}
	key, err := l.dirs.ReadIdentity()
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("the job has several pods but no key for authentication between its pods")
	}
	return agent.OpenListeners(l.dirs.SocketPath(), agent.PortAddress(l.pod.Address), key)
}

// prepareHead determines the job's nodes and prepares the environment of the script.
func (l *launcher) prepareHead(ctx context.Context) error {
	if l.spec.Exclusive {
		l.spec.CPUs = max(l.spec.CPUs, runtime.NumCPU())
	}
	hosts := l.presentNodes(ctx)
	l.steps = stepmgr.New(&l.spec, &l.pod, hosts)
	l.steps.Start, l.steps.ContainerEnvironment = l.start, l.agent.Container
	l.steps.SignalScript, l.steps.EndJob, l.steps.Session, l.steps.Notify = l.signalScript, l.endByRequest, l.newSessionCounter(), l.writeMessage
	l.steps.LimitChanged = l.rescheduleSignal
	l.agent.Head = l.steps.AnswerRequest
	slots := launchconfig.SpreadTasks(l.spec.DefaultTaskCount(len(hosts)), len(hosts), l.spec.TasksPerNode)
	if err := os.WriteFile(l.dirs.HostfilePath(), []byte(launchconfig.HostfileText(hosts, slots)), 0o644); err != nil {
		return err
	}
	l.steps.ScriptEnvironment = l.scriptEnvironment(hosts)
	return nil
}

// runHead runs the script, or waits until the interactive allocation is released, and then ends the job.
func (l *launcher) runHead(ctx context.Context) (int, error) {
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-ctx.Done():
			select {
			case <-over: // the context ended because the job is over
			default:
				l.endCancelled()
			}
		case <-l.stop:
		case <-over:
		}
	}()
	if l.spec.Interactive {
		defer l.signalBeforeLimit()()
		<-l.stop
		e := endingOfSession(l.lastSessionCode(), l.steps.DescribeJob().Steps)
		l.endRemaining(e)
		return l.exitCode(e), nil
	}
	e, err := l.runScript()
	if err != nil {
		e = protocol.Ending{Code: 1}
	}
	l.endRemaining(e)
	return l.exitCode(e), err
}
