package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// mode is the effect of a gate on its connections.
type mode int

const (
	open    mode = iota
	cut          // resets and refuses connections
	holding      // holds their bytes back
	slow         // delays their bytes
)

// delay is the delay of bytes in mode slow.
const delay = 150 * time.Millisecond

// gate is a listener that disturbs the connections it has accepted.
type gate struct {
	net.Listener

	mu      sync.Mutex
	changed *sync.Cond
	mode    mode
	conns   map[*gatedConn]bool
}

func newGate() (*gate, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gate{Listener: listener, conns: map[*gatedConn]bool{}}
	g.changed = sync.NewCond(&g.mu)
	return g, nil
}

// Accept returns the next connection that the gate does not refuse.
func (g *gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &gatedConn{Conn: conn, gate: g}
		g.mu.Lock()
		refused := g.mode == cut
		if !refused {
			g.conns[c] = true
		}
		g.mu.Unlock()
		if !refused {
			return c, nil
		}
		reset(conn)
	}
}

// set changes the mode. drop resets the existing connections.
func (g *gate) set(m mode, drop bool) {
	g.mu.Lock()
	g.mode = m
	var dropped []*gatedConn
	if drop {
		for c := range g.conns {
			dropped = append(dropped, c)
		}
	}
	for _, c := range dropped {
		c.closed = true
	}
	g.changed.Broadcast()
	g.mu.Unlock()
	for _, c := range dropped {
		reset(c.Conn)
	}
}

// reset closes a connection with a TCP reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// gatedConn is a connection through a gate.
type gatedConn struct {
	net.Conn
	gate *gate

	closed  bool      // protected by the gate's mutex
	delayed time.Time // when bytes were last held back; protected by the gate's mutex
}

// Read returns bytes once the gate lets them pass.
func (c *gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.pass() != nil {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write sends bytes once the gate lets them pass.
func (c *gatedConn) Write(b []byte) (int, error) {
	if err := c.pass(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// pass waits as the gate's mode requires.
func (c *gatedConn) pass() error {
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.mode == holding && !c.closed {
		g.changed.Wait()
		c.delayed = time.Now()
	}
	if g.mode == slow && !c.closed {
		c.delayed = time.Now()
		g.mu.Unlock()
		<-time.After(delay)
		g.mu.Lock()
	}
	if c.closed {
		return net.ErrClosed
	}
	return nil
}

// Close closes the connection.
func (c *gatedConn) Close() error {
	c.gate.mu.Lock()
	c.closed = true
	delete(c.gate.conns, c)
	c.gate.changed.Broadcast()
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// wasDelayed reports whether the gate held back bytes of the connection recently. Data on such a connection may have
// been sent long before.
func (c *gatedConn) wasDelayed() bool {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	return time.Since(c.delayed) < 2*time.Second
}

// witness records the writes of replicas.
type witness interface {
	// Wrote is called for each write before it is forwarded. late reports that the write may have been sent long
	// before.
	Wrote(component, replica, what string, at time.Time, late bool)
	// Renewed is called when the API server has accepted a lease. holds is false if the replica released it.
	Renewed(component, replica string, asked time.Time, holds bool)
}

// Line connects one replica to the API server.
type Line struct {
	component, replica string
	gate               *gate
	server             *httptest.Server
	witness            witness

	mu     sync.Mutex
	losing bool
	writes int
}

type connKey struct{}

// newLine creates a proxy to the API server of config, and writes a kubeconfig that uses the proxy.
func newLine(component, replica string, config *rest.Config, kubeconfig string, w witness) (*Line, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	l := &Line{component: component, replica: replica, witness: w}
	if l.gate, err = newGate(); err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: l.answered,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       quiet,
	}
	l.server = httptest.NewUnstartedServer(l.handle(proxy))
	_ = l.server.Listener.Close()
	l.server.Listener = l.gate
	l.server.EnableHTTP2 = true
	l.server.Config.ErrorLog = quiet
	l.server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	l.server.StartTLS()
	return l, writeKubeconfig(kubeconfig, l.server.URL)
}

func writeKubeconfig(file, server string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["line"] = &clientcmdapi.Cluster{Server: server, InsecureSkipTLSVerify: true}
	config.Contexts["line"] = &clientcmdapi.Context{Cluster: "line"}
	config.CurrentContext = "line"
	data, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// handle forwards requests and reports writes to the witness.
func (l *Line) handle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !writes(r) {
			next.ServeHTTP(w, r)
			return
		}
		now := time.Now()
		*r = *r.WithContext(context.WithValue(r.Context(), askedKey{}, now))
		if _, isLease := leaseOf(r); !isLease {
			l.witness.Wrote(l.component, l.replica, r.Method+" "+r.URL.Path, now, l.late(r))
		}
		if l.lose() {
			next.ServeHTTP(&lost{header: http.Header{}}, r)
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
}

type askedKey struct{}

func (l *Line) late(r *http.Request) bool {
	c, _ := r.Context().Value(connKey{}).(interface{ NetConn() net.Conn })
	if c == nil {
		return false
	}
	g, ok := c.NetConn().(*gatedConn)
	return ok && g.wasDelayed()
}

// lose reports whether to drop the response to this write, which it does for every third one.
func (l *Line) lose() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	return l.losing && l.writes%3 == 0
}

// setLosing sets whether responses are dropped from now on.
func (l *Line) setLosing(losing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losing = losing
}

// close closes the line.
func (l *Line) close() {
	l.gate.set(cut, true)
	_ = l.gate.Close()
}

// reviews are resources that clients create only to get an answer. The API server does not store them.
var reviews = []string{"subjectaccessreviews", "selfsubjectaccessreviews", "tokenreviews"}

func writes(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return !slices.Contains(reviews, path.Base(r.URL.Path))
}

// leaseOf returns the component whose lease the request is about.
func leaseOf(r *http.Request) (component string, ok bool) {
	if !strings.Contains(r.URL.Path, "/leases") {
		return "", false
	}
	return leases[path.Base(r.URL.Path)], true
}

// leases maps the names of the leader election leases to components.
var leases = map[string]string{"vc-scheduler": scheduler, "vc-controller-manager": controllers}

// answered reports an accepted lease to the witness.
func (l *Line) answered(response *http.Response) error {
	r := response.Request
	if _, isLease := leaseOf(r); !isLease || !writes(r) || response.StatusCode >= http.StatusMultipleChoices {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	o, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	lease, ok := o.(*coordinationv1.Lease)
	if !ok {
		return errors.New("a lease's answer is no lease")
	}
	component, holder := leases[lease.Name], lease.Spec.HolderIdentity
	asked, _ := r.Context().Value(askedKey{}).(time.Time)
	if component == l.component {
		l.witness.Renewed(component, l.replica, asked, holder != nil && *holder != "")
	}
	return nil
}

// lost is a response writer that drops the response.
type lost struct{ header http.Header }

func (l *lost) Header() http.Header         { return l.header }
func (l *lost) Write(b []byte) (int, error) { return len(b), nil }
func (l *lost) WriteHeader(int)             {}
