package processnode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	utilexec "k8s.io/utils/exec"

	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// find returns the running attempt of a container.
func (n *Node) find(namespace, name, container string) (*attempt, error) {
	w, err := n.findWorker(namespace, name)
	if err != nil {
		return nil, err
	}
	a := w.attempt(container)
	if a == nil {
		return nil, errdefs.NotFoundf("container %q of pod %s/%s does not run", container, namespace, name)
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
		return nil, errdefs.NotFoundf("pod %s/%s does not run", namespace, name)
	}
	return w, nil
}

// exec runs a command in a container (kubectl exec, cp).
func (n *Node) exec(ctx context.Context, namespace, pod, container string, command []string, client api.AttachIO) error {
	a, err := n.find(namespace, pod, container)
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
	session.closeFiles()
	if err != nil {
		session.drain(0)
		return fmt.Errorf("container %q: %w", container, err)
	}
	select {
	case <-started.Done():
	case <-ctx.Done():
		_ = a.container.Signal(started, syscall.SIGKILL)
		<-started.Done()
	}
	session.drain(drainTime)
	return exitError(started.Exit(), client)
}

// exitError makes the client's command end with the process's code.
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

// session connects a client's streams with a process.
type session struct {
	files    sandbox.Files
	terminal *sandbox.Terminal
	readers  []*os.File
	closers  []io.Closer
	copying  sync.WaitGroup
	ended    chan struct{} // nil without a terminal
}

// follow passes the sizes of the client's window on until done.
func follow(terminal *sandbox.Terminal, sizes <-chan api.TermSize, done <-chan struct{}) {
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
	s := &session{}
	if client.TTY() {
		terminal, err := sandbox.OpenTerminal()
		if err != nil {
			return nil, err
		}
		s.terminal = terminal
		s.files = sandbox.Files{terminal.Slave, terminal.Slave, terminal.Slave}
		s.ended = make(chan struct{})
		go follow(terminal, client.Resize(), s.ended)
		s.feed(terminal.Master, client.Stdin(), false)
		s.collect(terminal.Master, client.Stdout())
		return s, nil
	}
	if err := s.openStdin(client.Stdin()); err != nil {
		return nil, err
	}
	for i, out := range []io.Writer{client.Stdout(), client.Stderr()} {
		read, write, err := os.Pipe()
		if err != nil {
			s.closeFiles()
			s.drain(0)
			return nil, err
		}
		s.files[i+1] = write
		s.collect(read, out)
	}
	return s, nil
}

func (s *session) openStdin(in io.Reader) error {
	if in == nil {
		null, err := os.Open(os.DevNull)
		s.files[0] = null
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	s.files[0] = read
	s.closers = append(s.closers, write)
	s.feed(write, in, true)
	return nil
}

// feed copies what the client types; at its end a pipe is closed, a terminal is not: the process decides.
func (s *session) feed(to *os.File, from io.Reader, closeAtEnd bool) {
	if from == nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, from)
		if closeAtEnd {
			_ = to.Close()
		}
	}()
}

func (s *session) collect(from *os.File, to io.Writer) {
	s.readers = append(s.readers, from)
	s.copying.Go(func() {
		if to == nil {
			to = io.Discard
		}
		_, _ = io.Copy(to, from)
	})
}

func (s *session) closeFiles() {
	for i, file := range s.files {
		if file != nil && (i == 0 || file != s.files[0]) {
			_ = file.Close()
		}
	}
}

// drain reads to the end of the output, not longer than limit: a process left in the background may hold it open.
func (s *session) drain(limit time.Duration) {
	deadline := time.Now().Add(limit)
	for _, reader := range s.readers {
		_ = reader.SetReadDeadline(deadline)
	}
	s.copying.Wait()
	if s.ended != nil {
		close(s.ended)
	}
	for _, reader := range s.readers {
		_ = reader.Close()
	}
	for _, closer := range s.closers {
		_ = closer.Close()
	}
}

// attach connects a client with a container's main process until one of them ends.
func (n *Node) attach(ctx context.Context, namespace, pod, container string, client api.AttachIO) error {
	a, err := n.find(namespace, pod, container)
	if err != nil {
		return err
	}
	viewer := &attachment{stdout: writerOf(client.Stdout()), stderr: writerOf(client.Stderr())}
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
		go follow(a.streams.terminal, client.Resize(), over)
	}
	a.streams.attach(viewer)
	defer a.streams.detach(viewer)
	select {
	case <-ctx.Done():
		return nil
	case <-a.container.Main().Done():
	}
	a.streams.copying.Wait()
	return exitError(a.container.Main().Exit(), client)
}

// writerOf keeps a nil writer nil.
func writerOf(w io.WriteCloser) io.Writer {
	if w == nil {
		return nil
	}
	return w
}

// portForward connects a client with a port of the pod, at the pod's own loopback.
func (n *Node) portForward(ctx context.Context, namespace, pod string, port int32, stream io.ReadWriteCloser) error {
	w, err := n.findWorker(namespace, pod)
	if err != nil {
		return err
	}
	w.mu.Lock()
	surround := w.surround
	w.mu.Unlock()
	if surround == nil {
		return errors.New("pod is not running")
	}
	var connection net.Conn
	err = surround.namespaces.Enter(func() (err error) {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
		connection, err = (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp4", address)
		return err
	})
	if err != nil {
		return err
	}
	defer connection.Close()
	splice(stream, connection)
	return nil
}
