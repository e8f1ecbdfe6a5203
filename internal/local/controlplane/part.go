package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopTimeout is the time a part has to end. After that it runs until the process ends.
const stopTimeout = 15 * time.Second

// part is a component that runs in a goroutine until it is stopped. A nil part was never started.
type part struct {
	name   string
	cancel context.CancelFunc
	// done is closed when the component has returned. Then err may be read.
	done chan struct{}
	err  error
}

// startPart starts the component. Its context is independent of the caller's, because parts are stopped in a fixed
// order.
func startPart(name string, run func(ctx context.Context) error) *part {
	ctx, cancel := context.WithCancel(context.Background())
	p := &part{name: name, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = run(ctx)
	}()
	return p
}

// ended returns the error of a part whose done is closed.
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
