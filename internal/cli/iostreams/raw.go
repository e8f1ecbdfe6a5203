package iostreams

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/term"
	"k8s.io/client-go/tools/remotecommand"
)

// EnterRawMode puts the terminal into raw mode, so that a remote program with its own terminal receives every key.
// restore restores the previous mode. Until ctx is done, the queue returns the current size of this terminal, and the
// new size after each change. If In is not a terminal, EnterRawMode does nothing and the queue is nil.
func (s *Streams) EnterRawMode(ctx context.Context) (restore func(), sizes remotecommand.TerminalSizeQueue) {
	in, ok := s.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return func() {}, nil
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return func() {}, nil
	}
	changes := make(chan os.Signal, 1)
	changes <- os.Interrupt // any value makes Next return the current size
	notifyResize(changes)
	restore = func() {
		signal.Stop(changes)
		_ = term.Restore(int(in.Fd()), state)
	}
	return restore, &sizeQueue{ctx: ctx, fd: int(in.Fd()), changes: changes}
}

// sizeQueue returns the size of a terminal after each change.
type sizeQueue struct {
	ctx     context.Context
	fd      int
	changes <-chan os.Signal
}

// Next blocks until the size may have changed. It returns nil when ctx is done.
func (q *sizeQueue) Next() *remotecommand.TerminalSize {
	select {
	case <-q.ctx.Done():
		return nil
	case <-q.changes:
	}
	width, height, err := term.GetSize(q.fd)
	if err != nil || width <= 0 || height <= 0 {
		return nil
	}
	return &remotecommand.TerminalSize{Width: uint16(width), Height: uint16(height)}
}
