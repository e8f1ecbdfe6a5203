package chaos

import (
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// quiet discards the log messages of servers about connections that were cut on purpose.
var quiet = log.New(io.Discard, "", 0)

// webhookLine forwards the API server's reviews to one of several replicas of admission.
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

// carry forwards a connection to the first replica that accepts it, as a Service with a readiness probe does.
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

// close closes the line and all its connections.
func (w *webhookLine) close() {
	_ = w.gate.Close()
	w.gate.set(cut, true)
	w.open.Wait()
}
