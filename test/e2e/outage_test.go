package e2e

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// recovery is the maximum time from the return of the API server until everything works again.
const recovery = 10 * time.Second

// TestAllGoesOnSoonAfterTheAPIServerIsBack disconnects vcd from the API server for so long that clients reach long
// pauses between attempts. All pending work must be done within ten seconds after the API server is back.
func TestAllGoesOnSoonAfterTheAPIServerIsBack(t *testing.T) {
	c := startClusterAlone(t, "--components", "api", "--process-nodes", "0", "--simulated-nodes", "4", "--node-cpu", "10", "--simulated-start", "10ms")
	line := c.line()
	behind := *c
	behind.kubeconfig = line.kubeconfig
	behind.startVcd("--leader-elect=false")
	want := func(within time.Duration, name string, pods int) {
		t.Helper()
		began := time.Now()
		c.eventually(within, fmt.Sprintf("%d pods of %s have a node", pods, name), func() error {
			if bound := c.bound(name); bound < pods {
				return fmt.Errorf("%d have", bound)
			}
			return nil
		})
		t.Logf("%s: %s", name, time.Since(began).Round(time.Millisecond))
	}
	submit := func(name string, pods int) {
		c.create(job{name: name, min: pods, tasks: []task{{name: "m", replicas: pods, cpu: "1", command: "sleep 1000"}}}.String())
	}
	submit("before", 4)
	want(time.Minute, "before", 4)
	line.cut()
	submit("meanwhile", 8)
	c.kubectl("delete", "pod", "before-m-0", "--grace-period=0", "--force")
	const outage = 20 * time.Second // the pauses of client-go alone reach more than 12 s
	<-time.After(outage)
	if bound := c.bound("meanwhile"); bound > 0 {
		t.Fatalf("%d pods were bound while the API server was away: the line is not cut", bound)
	}
	line.mend(t)
	want(recovery, "meanwhile", 8)
	want(recovery, "before", 4)
	c.noOvercommit()
}

// line is vcd's connection to the API server, which the test can cut.
type line struct {
	kubeconfig, address, target string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
}

// line creates a separate connection to the API server.
func (c *cluster) line() *line {
	c.t.Helper()
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	l := &line{kubeconfig: filepath.Join(c.dir, "kubeconfig-line"), address: "127.0.0.1:0"}
	l.mend(c.t)
	c.t.Cleanup(l.cut)
	for _, server := range config.Clusters {
		at, err := url.Parse(server.Server)
		if err != nil {
			c.t.Fatal(err)
		}
		l.target, at.Host = at.Host, l.address
		server.Server = at.String()
	}
	if err := clientcmd.WriteToFile(*config, l.kubeconfig); err != nil {
		c.t.Fatal(err)
	}
	return l
}

// mend reopens the line at the same address.
func (l *line) mend(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener, l.address, l.open = listener, listener.Addr().String(), map[net.Conn]bool{}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go l.join(near)
		}
	}()
}

// cut closes the line and all its connections.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for end := range l.open {
		_ = end.Close()
	}
	l.open = nil
}

// join copies bytes in both directions until one side closes the connection.
func (l *line) join(near net.Conn) {
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		_ = near.Close()
		return
	}
	l.mu.Lock()
	cut := l.open == nil
	if !cut {
		l.open[near], l.open[far] = true, true
	}
	l.mu.Unlock()
	if cut {
		_, _ = near.Close(), far.Close()
		return
	}
	var both sync.WaitGroup
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_, _ = to.Close(), from.Close()
	}
	both.Go(func() { carry(far, near) })
	both.Go(func() { carry(near, far) })
	both.Wait()
}
