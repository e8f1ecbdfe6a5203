package step

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// dialTime limits a single attempt to reach another pod. agentTime limits all attempts together; it is longer,
	// because the other pod may still be starting.
	dialTime  = 5 * time.Second
	agentTime = 5 * time.Minute
	// launcherTime is the maximum time from the start of a pod until its launcher listens.
	launcherTime = 20 * time.Second
)

// errNoJob is returned if a command is called outside a job.
var errNoJob = usererror.Errorf("this command works in batch scripts and in programs started by srun and salloc; elsewhere use vcctl slurm", "this is not a pod of a batch job")

// here describes the job and the pod in which a command runs.
type here struct {
	dirs  directories
	spec  launchconfig.Spec
	pod   launchconfig.Pod
	place launchconfig.Place
}

// findHere reads the description of this pod from files and environment variables.
func findHere() (*here, error) {
	h := &here{dirs: newDirectories(os.Getenv)}
	var err error
	if h.spec, err = h.dirs.readSpec(); err != nil {
		return nil, errNoJob
	}
	if h.pod, err = launchconfig.ReadPod(os.Getenv); err != nil {
		return nil, err
	}
	h.place, err = launchconfig.FindPlace(&h.spec, &h.pod)
	return h, err
}

// sendRequest connects to a pod of the job by its host name and sends a request. It retries for agentTime.
func (h *here) sendRequest(ctx context.Context, host string, r request) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, agentTime)
	defer cancel()
	return h.retryRequest(ctx, host, r)
}

// retryRequest is like sendRequest, but retries until ctx ends.
func (h *here) retryRequest(ctx context.Context, host string, r request) (*wire, error) {
	connection, err := h.connectToHost(ctx, host)
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

// sendToHead sends a request to the pod in which the script runs.
func (h *here) sendToHead(ctx context.Context, r request) (*wire, error) {
	return h.sendRequest(ctx, h.place.Hosts[0], r)
}

// retryToHead is like sendToHead, but retries until ctx ends.
func (h *here) retryToHead(ctx context.Context, r request) (*wire, error) {
	return h.retryRequest(ctx, h.place.Hosts[0], r)
}

// sendToLauncher is like sendToHead, for callers outside the script. It retries, because the pod may run before its
// launcher listens.
func (h *here) sendToLauncher(ctx context.Context, r request) (*wire, error) {
	patience := time.After(launcherTime)
	for {
		w, err := h.sendToHead(ctx, r)
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

// queryHead sends a request to the head and decodes the response.
func (h *here) queryHead(ctx context.Context, r request, to any) error {
	w, err := h.sendToHead(ctx, r)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.receiveAnswer(to, nil)
}

// connectToHost connects to the agent on a host: by the local socket if the host is this pod, otherwise over the
// network with the job's key. It retries until ctx is done.
func (h *here) connectToHost(ctx context.Context, host string) (net.Conn, error) {
	if host == h.place.OwnHost() {
		connection, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", h.dirs.socketPath())
		if err != nil {
			return nil, usererror.WithHint(fmt.Errorf("the job's launcher cannot be reached: %w", err), launcherGone)
		}
		return connection, nil
	}
	identity, err := h.dirs.readIdentity()
	if err != nil {
		return nil, err
	}
	if identity == nil {
		return nil, usererror.Errorf("submit the job again with sbatch, srun or salloc, which create a key", "the job has no key that authenticates its pods to each other")
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		connection, err := dialHost(ctx, host, h.pod.Job, identity)
		if err == nil {
			return connection, nil
		}
		select {
		case <-ctx.Done():
			return nil, usererror.WithHint(fmt.Errorf("node %s cannot be reached: %w", host, err), "its pod may not be running, or its network may block port "+Port+"; check with kubectl get pods")
		case <-time.After(pause):
		}
	}
}

// dialHost connects to a host by its short name, which is completed by a search domain, or by its name below the
// job's service.
func dialHost(ctx context.Context, host, job string, identity *tls.Config) (net.Conn, error) {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTime}, Config: identity}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, Port))
	var name *net.DNSError
	if errors.As(err, &name) {
		return dialer.DialContext(ctx, "tcp", net.JoinHostPort(host+"."+job, Port))
	}
	return connection, err
}

// requestOwnJob requests the description of the job from the launcher. It also returns the client for further requests.
func requestOwnJob(ctx context.Context) (*here, *jobAnswer, error) {
	h, err := findHere()
	if err != nil {
		return nil, nil, err
	}
	var job jobAnswer
	return h, &job, h.queryHead(ctx, request{Job: true}, &job)
}

// fileNames returns the values for patterns in the names of the job's files.
func (h *here) fileNames(j *jobAnswer) launchconfig.Names {
	return launchconfig.NewNames(&j.Spec, &j.Pod, launchconfig.Place{Hosts: h.place.Hosts})
}

// mayBeOwnID reports whether id can be the ID of this job. It does not contact the launcher.
func (h *here) mayBeOwnID(id string) bool {
	id, _, _ = strings.Cut(id, ".")
	return h.pod.HasID(id)
}

// areOwnIDs reports whether all IDs in the comma-separated lists belong to this job. It returns false if there are no
// IDs.
func (h *here) areOwnIDs(lists []string) bool {
	var ids []string
	for _, list := range lists {
		ids = append(ids, strings.Split(list, ",")...)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !h.mayBeOwnID(id) })
}
