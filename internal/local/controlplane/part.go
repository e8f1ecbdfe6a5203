package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopTimeout is how long to wait for a part to stop. After that, it runs until the process ends.
const stopTimeout = 15 * time.Second

// part is a component that runs in a goroutine until it is stopped. A nil part was never started.
type part struct {
	name   string
	cancel context.CancelFunc
	// done is closed when the component has returned. After that, err may be read.
	done chan struct{}
	err  error
}

// startComponent starts a component. The component's context is independent of the caller's, because parts are stopped
// in a fixed order.
func startComponent(name string, run func(ctx context.Context) error) *part {
	ctx, cancel := context.WithCancel(context.Background())
	p := &part{name: name, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = run(ctx)
	}()
	return p
}

// errorOfEnd returns the error of a part that has ended.
func (p *part) errorOfEnd() error {
	if p.err == nil {
		return fmt.Errorf("%s ended unexpectedly; see the log", p.name)
	}
	return fmt.Errorf("%s ended: %w", p.name, p.err)
}

// stopAndWait stops the part and waits until it has ended.
func (p *part) stopAndWait() error {
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
