// Package jobclient reads the description of the job from this pod's files and environment variables, and sends
// requests to the job's pods. It reaches this pod over a local socket, and the other pods over TLS with the job's key.
package jobclient

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
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// DialTime limits a single attempt to reach another pod.
	DialTime = 5 * time.Second
	// AgentTime limits all attempts together. It is longer because the other pod may still be starting.
	AgentTime = 5 * time.Minute
	// launcherTime is the maximum time from the start of a pod until its launcher accepts connections.
	launcherTime = 20 * time.Second
)

// errNoJob is returned if a command is called outside a job.
var errNoJob = usererror.Errorf("use this command in batch scripts and in programs started by srun or salloc; elsewhere, use vcctl slurm", "this is not a pod of a batch job")

// Client describes the job and the pod in which a command runs.
type Client struct {
	Dirs  Directories
	Spec  launchconfig.Spec
	Pod   launchconfig.Pod
	Place launchconfig.Place
}

// New reads the description of this pod from files and environment variables.
func New() (*Client, error) {
	c := &Client{Dirs: NewDirectories(os.Getenv)}
	var err error
	if c.Spec, err = c.Dirs.ReadSpec(); err != nil {
		return nil, errNoJob
	}
	if c.Pod, err = launchconfig.ReadPod(os.Getenv); err != nil {
		return nil, err
	}
	c.Place, err = launchconfig.FindPlace(&c.Spec, &c.Pod)
	return c, err
}

// SendRequest connects to a pod of the job by its host name and sends a request. It retries for AgentTime.
func (c *Client) SendRequest(ctx context.Context, host string, r protocol.Request) (*protocol.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, AgentTime)
	defer cancel()
	return c.RetryRequest(ctx, host, r)
}

// RetryRequest is like SendRequest, but retries until ctx is done.
func (c *Client) RetryRequest(ctx context.Context, host string, r protocol.Request) (*protocol.Conn, error) {
	connection, err := c.ConnectToHost(ctx, host)
	if err != nil {
		return nil, err
	}
	conn := protocol.NewConn(connection)
	if err := conn.SendJSON(protocol.AskFrame, 0, r); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// SendToHead sends a request to the head, which is the pod in which the script runs.
func (c *Client) SendToHead(ctx context.Context, r protocol.Request) (*protocol.Conn, error) {
	return c.SendRequest(ctx, c.Place.Hosts[0], r)
}

// SendToLauncher is like SendToHead, but for callers that the script did not start. It retries, because the pod may be
// running before its launcher accepts connections.
func (c *Client) SendToLauncher(ctx context.Context, r protocol.Request) (*protocol.Conn, error) {
	patience := time.After(launcherTime)
	for {
		conn, err := c.SendToHead(ctx, r)
		if err == nil {
			return conn, nil
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

// QueryHead sends a request to the head and decodes the response.
func (c *Client) QueryHead(ctx context.Context, r protocol.Request, to any) error {
	conn, err := c.SendToHead(ctx, r)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.ReceiveAnswer(to, nil)
}

// ConnectToHost connects to the agent on a host. It uses the local socket if the host is this pod, and the network with
// the job's key otherwise. It retries connections over the network until ctx is done.
func (c *Client) ConnectToHost(ctx context.Context, host string) (net.Conn, error) {
	if host == c.Place.OwnHost() {
		connection, err := (&net.Dialer{Timeout: DialTime}).DialContext(ctx, "unix", c.Dirs.SocketPath())
		if err != nil {
			return nil, usererror.WithHint(fmt.Errorf("the job's launcher cannot be reached: %w", err), protocol.LauncherGoneHint)
		}
		return connection, nil
	}
	identity, err := c.Dirs.ReadIdentity()
	if err != nil {
		return nil, err
	}
	if identity == nil {
		return nil, usererror.Errorf("submit the job again with sbatch, srun or salloc, which create a key", "the job has no key for authentication between its pods")
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		connection, err := dialHost(ctx, host, c.Pod.Job, identity)
		if err == nil {
			return connection, nil
		}
		select {
		case <-ctx.Done():
			return nil, usererror.WithHint(fmt.Errorf("node %s cannot be reached: %w", host, err), "the node's pod might not be running, or the network might block port "+protocol.Port+"; check the pod with kubectl get pods")
		case <-time.After(pause):
		}
	}
}

// dialHost connects to a host by its short name, which a search domain completes, or by its name below the job's
// service if the short name cannot be resolved.
func dialHost(ctx context.Context, host, job string, identity *tls.Config) (net.Conn, error) {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: DialTime}, Config: identity}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, protocol.Port))
	var name *net.DNSError
	if errors.As(err, &name) {
		return dialer.DialContext(ctx, "tcp", net.JoinHostPort(host+"."+job, protocol.Port))
	}
	return connection, err
}

// Query sends a request to the head of this pod's job and waits until the head confirms the request.
func Query(ctx context.Context, r protocol.Request) error {
	c, err := New()
	if err != nil {
		return err
	}
	return c.QueryHead(ctx, r, nil)
}

// RequestJob requests the description of the job from the launcher. It also returns the client for further requests.
func RequestJob(ctx context.Context) (*Client, *protocol.JobAnswer, error) {
	c, err := New()
	if err != nil {
		return nil, nil, err
	}
	var job protocol.JobAnswer
	return c, &job, c.QueryHead(ctx, protocol.Request{Job: true}, &job)
}

// FileNames returns the values that replace patterns in the names of the job's files.
func (c *Client) FileNames(j *protocol.JobAnswer) launchconfig.Names {
	return launchconfig.NewNames(&j.Spec, &j.Pod, launchconfig.Place{Hosts: c.Place.Hosts})
}

// MayBeOwnID reports whether id, without its step, identifies this job. It does not contact the launcher.
func (c *Client) MayBeOwnID(id string) bool {
	id, _, _ = strings.Cut(id, ".")
	return c.Pod.HasID(id)
}

// AreOwnIDs reports whether all IDs in the comma-separated lists belong to this job. It returns false if there are no
// IDs.
func (c *Client) AreOwnIDs(lists []string) bool {
	var ids []string
	for _, list := range lists {
		ids = append(ids, strings.Split(list, ",")...)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !c.MayBeOwnID(id) })
}
