package iostreams

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/term"
	"k8s.io/client-go/tools/remotecommand"
)

// Raw makes the terminal pass every key on, for a program on the other side that
// has a terminal of its own; restore undoes it. The queue tells that program the
// size of this terminal, now and whenever it changes, until ctx ends. Where In
// is no terminal nothing happens and the queue is nil.
func (s *Streams) Raw(ctx context.Context) (restore func(), sizes remotecommand.TerminalSizeQueue) {
	in, ok := s.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return func() {}, nil
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return func() {}, nil
	}
	changes := make(chan os.Signal, 1)
	changes <- os.Interrupt // any signal: the size that it has now
	notifyResize(changes)
	restore = func() {
		signal.Stop(changes)
		_ = term.Restore(int(in.Fd()), state)
	}
	return restore, &sizeQueue{ctx: ctx, fd: int(in.Fd()), changes: changes}
}

// sizeQueue reads the size of a terminal whenever it may have changed.
type sizeQueue struct {
	ctx     context.Context
	fd      int
	changes <-chan os.Signal
}

// Next blocks until the size may have changed; nil ends the queue.
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
