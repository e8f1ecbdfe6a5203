package processnode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	utilexec "k8s.io/utils/exec"

	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// findAttempt returns the running attempt of a container.
func (n *Node) findAttempt(namespace, name, container string) (*attempt, error) {
	w, err := n.findWorker(namespace, name)
	if err != nil {
		return nil, err
	}
	a := w.runningAttempt(container)
	if a == nil {
		return nil, errdefs.NotFoundf("container %q of pod %s/%s is not running", container, namespace, name)
	}
	return a, nil
}

func (n *Node) findWorker(namespace, name string) (*worker, error) {
	object, exists, err := n.pods.GetStore().GetByKey(namespace + "/" + name)
	pod, ok := object.(*corev1.Pod)
	if err != nil || !exists || !ok {
		return nil, errdefs.NotFoundf("pod %s/%s is not on node %s", namespace, name, n.config.Name)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	w, ok := n.workers[pod.UID]
	if !ok {
		return nil, errdefs.NotFoundf("pod %s/%s is not running", namespace, name)
	}
	return w, nil
}

// execInContainer runs a command in a container, for kubectl exec and cp.
func (n *Node) execInContainer(ctx context.Context, namespace, pod, container string, command []string, client api.AttachIO) error {
	a, err := n.findAttempt(namespace, pod, container)
	if err != nil {
		return err
	}
	process := a.process
	process.Args, process.TTY = command, client.TTY()
	session, err := openSession(client)
	if err != nil {
		return err
	}
	started, err := a.container.Exec(process, session.files)
	session.closeProcessEnds()
	if err != nil {
		_ = session.drainOutput(ctx, 0)
		return fmt.Errorf("container %q: %w", container, err)
	}
	select {
	case <-started.Done():
	case <-ctx.Done():
		_ = a.container.Signal(started, syscall.SIGKILL)
		<-started.Done()
	}
	if err := session.drainOutput(ctx, drainTime); errors.Is(err, errViewerStalled) {
		return err
	}
	return exitError(started.Exit(), client)
}

// exitError returns an error that makes the client's command exit with the same code as the process.
func exitError(exit sandbox.Exit, client api.AttachIO) error {
	if exit.StartError != "" {
		out := client.Stderr()
		if out == nil {
			out = client.Stdout()
		}
		if out != nil {
			_, _ = io.WriteString(out, exit.StartError+"\n")
		}
	}
	if exit.Code == 0 {
		return nil
	}
	return utilexec.CodeExitError{Err: fmt.Errorf("exit status %d", exit.Code), Code: exit.Code}
}

// session connects a client's streams to a process.
type session struct {
	processIO
	viewer *viewer
}

// followSizes passes window sizes from the client to the terminal until done is closed.
func followSizes(terminal *sandbox.Terminal, sizes <-chan api.TermSize, done <-chan struct{}) {
	for {
		select {
		case size := <-sizes:
			terminal.Resize(size.Width, size.Height)
		case <-done:
			return
		}
	}
}

func openSession(client api.AttachIO) (*session, error) {
	s := &session{viewer: newViewer(writerOrNil(client.Stdout()), writerOrNil(client.Stderr()))}
	in := client.Stdin()
	if err := s.openFiles(client.TTY(), in != nil, s.collectOutput); err != nil {
		s.viewer.dropViewer(err)
		_ = s.drainOutput(context.Background(), 0)
		return nil, err
	}
	if s.terminal != nil {
		go followSizes(s.terminal, client.Resize(), s.ended)
	}
	if in != nil {
		go s.copyClientInput(in)
	}
	return s, nil
}

// copyClientInput copies the client's input. When the input ends, it closes a pipe but not a terminal, because a
// process on a terminal determines by itself when to end.
func (s *session) copyClientInput(from io.Reader) {
	_, _ = io.Copy(s.stdin, from)
	if s.terminal == nil {
		_ = s.stdin.Close()
	}
}

// collectOutput sends the output of the process to the client. A slow client slows down the process while it is
// running, but the process can end without waiting for the client.
func (s *session) collectOutput(from *os.File, isStderr bool) {
	s.readOutput(from, func(data []byte) { s.viewer.queueOutput(slices.Clone(data), isStderr, 0, s.ended) }, func() {})
}

// drainOutput reads the remaining output, but for no longer than limit, because a background process may keep it open.
// Then it waits until the client has received everything, as long as the client makes progress.
func (s *session) drainOutput(ctx context.Context, limit time.Duration) error {
	s.drainFiles(limit)
	return s.viewer.finishOutput(ctx)
}

// attachToContainer connects a client to the main process of a container until one of them ends.
func (n *Node) attachToContainer(ctx context.Context, namespace, pod, container string, client api.AttachIO) error {
	a, err := n.findAttempt(namespace, pod, container)
	if err != nil {
		return err
	}
	if in := client.Stdin(); in != nil && a.streams.stdin != nil {
		go func() {
			_, _ = io.Copy(a.streams.stdin, in)
			if a.streams.once && a.streams.terminal == nil {
				_ = a.streams.stdin.Close()
			}
		}()
	}
	if client.TTY() && a.streams.terminal != nil {
		over := make(chan struct{})
		defer close(over)
		go followSizes(a.streams.terminal, client.Resize(), over)
	}
	viewer := newViewer(writerOrNil(client.Stdout()), writerOrNil(client.Stderr()))
	a.streams.attachViewer(viewer)
	defer a.streams.detachViewer(viewer)
	select {
	case <-ctx.Done():
		viewer.dropViewer(ctx.Err())
		return nil
	case <-viewer.over:
		return viewer.finishOutput(ctx)
	case <-a.container.Main().Done():
	}
	a.streams.copying.Wait()
	if err := viewer.finishOutput(ctx); errors.Is(err, errViewerStalled) {
		return err
	}
	return exitError(a.container.Main().Exit(), client)
}

// writerOrNil converts w to an io.Writer that is nil if w is nil.
func writerOrNil(w io.WriteCloser) io.Writer {
	if w == nil {
		return nil
	}
	return w
}

// portForward connects a client to a port on the pod's loopback address.
func (n *Node) portForward(ctx context.Context, namespace, pod string, port int32, stream io.ReadWriteCloser) error {
	w, err := n.findWorker(namespace, pod)
	if err != nil {
		return err
	}
	w.mu.Lock()
	podEnv := w.podEnv
	w.mu.Unlock()
	if podEnv == nil {
		return errors.New("pod is not running")
	}
	var connection net.Conn
	err = podEnv.namespaces.Enter(func() (err error) {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
		connection, err = (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp4", address)
		return err
	})
	if err != nil {
		return err
	}
	defer connection.Close()
	copyBothWays(stream, connection)
	return nil
}
