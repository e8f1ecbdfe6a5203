package chaos

import (
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// quiet drops what servers log about connections that were cut on purpose.
var quiet = log.New(io.Discard, "", 0)

// webhookLine carries the API server's reviews to one of several replicas of admission.
type webhookLine struct {
	gate    *gate
	targets []string
	next    atomic.Int64
	open    sync.WaitGroup
}

func newWebhookLine(targets ...string) (*webhookLine, error) {
	g, err := newGate()
	if err != nil {
		return nil, err
	}
	w := &webhookLine{gate: g, targets: targets}
	w.open.Go(func() {
		for {
			conn, err := g.Accept()
			if err != nil {
				return
			}
			w.open.Go(func() { w.carry(conn) })
		}
	})
	return w, nil
}

// carry joins a connection to the first replica that answers, as a Service with a readiness probe would.
func (w *webhookLine) carry(near net.Conn) {
	defer near.Close()
	first := w.next.Add(1)
	for i := range w.targets {
		far, err := net.DialTimeout("tcp", w.targets[(int(first)+i)%len(w.targets)], time.Second)
		if err != nil {
			continue
		}
		defer far.Close()
		done := make(chan struct{}, 2)
		go func() { _, _ = io.Copy(far, near); done <- struct{}{} }()
		go func() { _, _ = io.Copy(near, far); done <- struct{}{} }()
		<-done
		return
	}
}

// close ends the line and all that goes over it.
func (w *webhookLine) close() {
	_ = w.gate.Close()
	w.gate.set(cut, true)
	w.open.Wait()
}
