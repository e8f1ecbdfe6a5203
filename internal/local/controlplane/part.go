package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopTimeout is how long a part may take to end; then it is left to the end
// of the process.
const stopTimeout = 15 * time.Second

// part is a component that runs in a goroutine until it is stopped. A nil
// part never ran.
type part struct {
	name   string
	cancel context.CancelFunc
	// done is closed when the component has returned; err may be read then.
	done chan struct{}
	err  error
}

// startPart runs the component. Its context is not the caller's: parts are
// stopped one after the other, in an order of their own.
func startPart(name string, run func(ctx context.Context) error) *part {
	ctx, cancel := context.WithCancel(context.Background())
	p := &part{name: name, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = run(ctx)
	}()
	return p
}

// ended says why a part whose done is closed has ended.
func (p *part) ended() error {
	if p.err == nil {
		return fmt.Errorf("%s ended by itself; see the log", p.name)
	}
	return fmt.Errorf("%s ended: %w", p.name, p.err)
}

// stop ends the part and waits for it.
func (p *part) stop() error {
	if p == nil {
		return nil
	}
	p.cancel()
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
		return errors.New(p.name + " does not stop")
	}
}
