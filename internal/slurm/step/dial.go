package step

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

const (
	// dialTime is how long one try to reach another pod takes at most, agentTime how long it is tried: its pod may still be starting.
	dialTime  = 5 * time.Second
	agentTime = 5 * time.Minute
	// launcherTime is how long a launcher may take from the start of its pod until it listens.
	launcherTime = 20 * time.Second
)

// errNoJob is about a command that works inside a job only.
var errNoJob = fault.Errorf("it works in batch scripts, and in what srun and salloc start; elsewhere use vcctl slurm", "this is no pod of a batch job")

// here is where a command finds itself.
type here struct {
	dirs  directories
	spec  launch.Spec
	pod   launch.Pod
	place launch.Place
}

// findHere reads what the pod knows of itself.
func findHere() (*here, error) {
	h := &here{dirs: directoriesOf(os.Getenv)}
	var err error
	if h.spec, err = h.dirs.readSpec(); err != nil {
		return nil, errNoJob
	}
	if h.pod, err = launch.PodOf(os.Getenv); err != nil {
		return nil, err
	}
	h.place, err = launch.PlaceOf(&h.spec, &h.pod)
	return h, err
}

// ask connects to a pod of the job by its host name, and asks.
func (h *here) ask(ctx context.Context, host string, r request) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, agentTime)
	defer cancel()
	return h.askFor(ctx, host, r)
}

// askFor tries as long as ctx.
func (h *here) askFor(ctx context.Context, host string, r request) (*wire, error) {
	connection, err := h.connect(ctx, host)
	if err != nil {
		return nil, err
	}
	w := newWire(connection)
	if err := w.sendJSON(askFrame, 0, r); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// askHead asks the pod in which the script runs.
func (h *here) askHead(ctx context.Context, r request) (*wire, error) {
	return h.ask(ctx, h.place.Hosts[0], r)
}

// askHeadFor is askHead for as long as ctx.
func (h *here) askHeadFor(ctx context.Context, r request) (*wire, error) {
	return h.askFor(ctx, h.place.Hosts[0], r)
}

// askLauncher is askHead from outside the script: the pod may run, and its launcher not listen yet.
func (h *here) askLauncher(ctx context.Context, r request) (*wire, error) {
	patience := time.After(launcherTime)
	for {
		w, err := h.askHead(ctx, r)
		if err == nil {
			return w, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-patience:
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// question asks the head and takes its answer.
func (h *here) question(ctx context.Context, r request, to any) error {
	w, err := h.askHead(ctx, r)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.answer(to, nil)
}

// connect reaches an agent: by the socket of the pod, or over the network as one who knows the job's key, as long as ctx.
func (h *here) connect(ctx context.Context, host string) (net.Conn, error) {
	if host == h.place.Host() {
		connection, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", h.dirs.socket())
		if err != nil {
			return nil, fault.Hinted(fmt.Errorf("the job's launcher cannot be reached: %w", err), launcherGone)
		}
		return connection, nil
	}
	identity, err := h.dirs.readIdentity()
	if err != nil {
		return nil, err
	}
	if identity == nil {
		return nil, fault.Errorf("submit it again with sbatch, srun or salloc, which make one", "the job has no key with which its pods know each other")
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		connection, err := dialHost(ctx, host, h.pod.Job, identity)
		if err == nil {
			return connection, nil
		}
		select {
		case <-ctx.Done():
			return nil, fault.Hinted(fmt.Errorf("node %s cannot be reached: %w", host, err), "its pod may not run, or its network be closed to port "+Port+": kubectl get pods tells")
		case <-time.After(pause):
		}
	}
}

// dialHost tries a host by its own name, which a search domain completes, and by the name that it has below the job's service.
func dialHost(ctx context.Context, host, job string, identity *tls.Config) (net.Conn, error) {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTime}, Config: identity}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, Port))
	var name *net.DNSError
	if errors.As(err, &name) {
		return dialer.DialContext(ctx, "tcp", net.JoinHostPort(host+"."+job, Port))
	}
	return connection, err
}
