package gather

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// peer is a connection below that counts its writes, takes them only while open, and can fail.
type peer struct {
	net.Conn

	mu     sync.Mutex
	got    bytes.Buffer
	writes int
	fail   error
	closed bool
	gate   chan struct{} // a write takes one from it; closed: all may
}

func (p *peer) Write(b []byte) (int, error) {
	if _, ok := <-p.gate; !ok && p.isClosed() {
		return 0, net.ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return 0, p.fail
	}
	p.writes++
	return p.got.Write(b)
}

func (p *peer) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Close ends writes that wait, as a socket's does.
func (p *peer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		select {
		case <-p.gate:
		default:
			close(p.gate)
		}
	}
	return nil
}

func TestWritesGatherInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		below := &peer{gate: make(chan struct{}, 10)}
		c := newConn(below)
		write(t, c, "a")
		synctest.Wait() // the sender stands in its write of a
		for range 100 {
			write(t, c, "bc")
		}
		below.gate <- struct{}{}
		below.gate <- struct{}{}
		synctest.Wait()
		if want := "a" + string(bytes.Repeat([]byte("bc"), 100)); below.got.String() != want || below.writes != 2 {
			t.Errorf("%d writes of %q, want 2 of %q", below.writes, below.got.String(), want)
		}
		closeNow(t, c)
	})
}

func TestCloseSendsWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		below := &peer{gate: make(chan struct{}, 10)}
		below.gate <- struct{}{}
		c := newConn(below)
		write(t, c, "goodbye")
		if err := c.SetWriteDeadline(time.Now()); err != nil { // as crypto/tls does before it closes
			t.Fatal(err)
		}
		closeNow(t, c)
		if below.got.String() != "goodbye" || !below.closed {
			t.Errorf("sent %q, closed %t", below.got.String(), below.closed)
		}
		if _, err := c.Write([]byte("more")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write after Close: %v", err)
		}
	})
}

func TestCloseDoesNotWaitForADeafPeer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConn(&peer{gate: make(chan struct{})})
		write(t, c, "nobody takes this")
		began := time.Now()
		closeNow(t, c)
		if took := time.Since(began); took != closing {
			t.Errorf("Close took %s, want %s", took, closing)
		}
	}) // which fails if the sender does not end
}

func TestAFailureFailsTheNextWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken pipe")
		below := &peer{gate: make(chan struct{}, 10), fail: broken}
		below.gate <- struct{}{}
		c := newConn(below)
		write(t, c, "lost")
		synctest.Wait()
		for range 2 {
			if _, err := c.Write([]byte("x")); !errors.Is(err, broken) {
				t.Errorf("write after a failure: %v, want %v", err, broken)
			}
		}
		closeNow(t, c)
	})
}

func TestAFullBufferHoldsWritersBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		below := &peer{gate: make(chan struct{}, 10)}
		c := newConn(below)
		write(t, c, "a")
		synctest.Wait() // the sender stands in its write of a
		write(t, c, string(make([]byte, most)))
		wrote := false
		var writer sync.WaitGroup
		writer.Go(func() { write(t, c, "b"); wrote = true })
		synctest.Wait()
		if wrote {
			t.Errorf("a write found room behind %d bytes", most)
		}
		below.gate <- struct{}{}
		writer.Wait()
		close(below.gate)
		synctest.Wait()
		if n := below.got.Len(); n != most+2 {
			t.Errorf("%d bytes were sent, want %d", n, most+2)
		}
		closeNow(t, c)
	})
}

func TestADeadlineEndsAWriteThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConn(&peer{gate: make(chan struct{})})
		write(t, c, "a")
		synctest.Wait()
		write(t, c, string(make([]byte, most)))
		began := time.Now()
		if err := c.SetWriteDeadline(began.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("b")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("after %s: %v, want %v after a minute", time.Since(began), err, os.ErrDeadlineExceeded)
		}
		if err := c.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		err := c.usable()
		c.mu.Unlock()
		if err != nil {
			t.Errorf("without a deadline: %v", err)
		}
		closeNow(t, c)
	})
}

// TestRequestsSurvive: many requests at once over HTTP/2 and TLS, each answered with its own body.
func TestRequestsSurvive(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	var dialled atomic.Int32
	dial := Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	})
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true} //nolint:gosec // of this test
	defer transport.CloseIdleConnections()
	var workers sync.WaitGroup
	for worker := range 20 {
		workers.Go(func() {
			for i := range 50 {
				body := bytes.Repeat([]byte(strconv.Itoa(worker*50+i)+","), 1+i*i*10) // up to 125 kB
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, server.URL, bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				response, err := transport.RoundTrip(r)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if err != nil || !bytes.Equal(got, body) {
					t.Errorf("worker %d, request %d: %d bytes of %d came back: %v", worker, i, len(got), len(body), err)
				}
			}
		})
	}
	workers.Wait()
	if dialled.Load() == 0 {
		t.Error("the dial function was not asked")
	}
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if n, err := c.Write([]byte(text)); err != nil || n != len(text) {
		t.Errorf("write of %d bytes: %d, %v", len(text), n, err)
	}
}

func closeNow(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
