// Package gather makes connections whose small writes leave together.
//
//	In:   a dial function
//	Out:  one whose connections gather what is written to them
//
// A request over HTTP/2 is two writes, its header and its body, and many requests
// share a connection; each write would be a call into the kernel and a packet, which
// cost more than anything else about a small request. Here a write only puts its
// bytes behind those that wait; a goroutine of the connection sends all that
// gathered as soon as it gets to run.
//
// # Invariants
//
//   - Bytes leave in the order of the writes, each once.
//   - What could not be sent fails the writes after it: a write that returned
//     nil may still be lost, as with any connection.
//   - No more than most bytes wait, or one write; the next waits for room, no longer
//     than the deadline of writes allows.
//   - Close sends what waits, but takes no longer than closing.
//
// # Concurrency
//
// As of a net.Conn: everything may be called by many goroutines at once. Each
// connection has one goroutine, which ends with Close or with the first failure.
package gather

import (
	"context"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

const (
	// most is how many bytes may wait to be sent.
	most = 256 << 10
	// closing is how long Close waits for what has not been sent.
	closing = time.Second
)

// Dial is the form of a dial function, as rest.Config has it.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer makes the connections of dial gather their writes.
func Dialer(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		below, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return newConn(below), nil
	}
}

// conn is a connection whose writes are sent by a goroutine of its own.
type conn struct {
	net.Conn

	mu     sync.Mutex
	work   *sync.Cond // for the sender: there are bytes, or the end
	room   *sync.Cond // for writers: there is room, or an error
	wait   []byte     // to be sent next
	spare  []byte     // what wait becomes then
	err    error      // of a send; sticky
	closed bool
	sent   chan struct{} // closed when the sender has ended

	late  bool // the deadline of writes has passed
	alarm *time.Timer
}

func newConn(below net.Conn) *conn {
	c := &conn{Conn: below, sent: make(chan struct{})}
	c.work, c.room = sync.NewCond(&c.mu), sync.NewCond(&c.mu)
	go c.send()
	return c
}

// Write puts p behind what waits.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.usable() == nil && len(c.wait) > 0 && len(c.wait)+len(p) > most {
		c.room.Wait()
	}
	if err := c.usable(); err != nil {
		return 0, err
	}
	if len(c.wait) == 0 {
		c.work.Signal()
	}
	c.wait = append(c.wait, p...)
	return len(p), nil
}

// usable says why nothing more can be written, if that is so.
func (c *conn) usable() error {
	switch {
	case c.closed:
		return net.ErrClosed
	case c.err != nil:
		return c.err
	case c.late:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// send sends what waits until there is an error or the end.
func (c *conn) send() {
	defer close(c.sent)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(c.wait) == 0 && !c.closed {
			c.work.Wait()
		}
		if len(c.wait) == 0 {
			return
		}
		c.pause()
		p := c.wait
		c.wait = c.spare[:0]
		c.room.Broadcast()
		c.mu.Unlock()
		_, err := c.Conn.Write(p)
		c.mu.Lock()
		c.spare = p
		if err != nil {
			c.err = err
			c.room.Broadcast()
			return
		}
	}
}

// pause lets those that are about to write do so: whoever woke the sender has a
// body to write, and others of the same burst stand in line.
func (c *conn) pause() {
	c.mu.Unlock()
	runtime.Gosched()
	c.mu.Lock()
}

// Close sends what waits and closes the connection.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.stopAlarm()
	c.work.Signal()
	c.room.Broadcast()
	c.mu.Unlock()
	enough := time.NewTimer(closing)
	defer enough.Stop()
	select {
	case <-c.sent:
	case <-enough.C: // the other side takes nothing; closing below ends the sender
	}
	return c.Conn.Close()
}

// SetDeadline is net.Conn's.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetWriteDeadline is about Write alone: what it has taken is sent though the
// deadline passes meanwhile, as the kernel would do.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.stopAlarm()
	c.late = false
	if t.IsZero() {
		return nil
	}
	wait := time.Until(t)
	if wait <= 0 {
		c.late = true
		c.room.Broadcast()
		return nil
	}
	var alarm *time.Timer
	alarm = time.AfterFunc(wait, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.alarm == alarm { // no other deadline was set meanwhile
			c.late = true
			c.room.Broadcast()
		}
	})
	c.alarm = alarm
	return nil
}

func (c *conn) stopAlarm() {
	if c.alarm != nil {
		c.alarm.Stop()
		c.alarm = nil
	}
}
