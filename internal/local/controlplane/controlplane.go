package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// startTimeout is how long all parts together may take to become ready. It is
// long because a busy machine is slow, not because it is ever expected.
const startTimeout = 3 * time.Minute

// AdminUser is the user of the kubeconfig; it may do everything.
const AdminUser = "vc-local-admin"

// Options say where a control plane keeps its data and how it runs.
type Options struct {
	// Dir holds everything: Dir/pki, Dir/etcd, Dir/log, Dir/kubeconfig. It is
	// made when there is none, with mode 0700.
	Dir string
	// Port of the API server on 127.0.0.1; 0 picks a free one.
	Port int
	// Kubeconfig is where the administrator's kubeconfig goes; empty: Dir/kubeconfig.
	Kubeconfig string
	// Ephemeral: data need not survive a power cut, so nothing waits for the disk.
	Ephemeral bool
	// ExtraHosts are more names and addresses under which the API server may
	// be reached, for its certificate.
	ExtraHosts []string
	// Kinds installs what kube-controller-manager should know from its first
	// moment; may be nil. Of kinds that come later its garbage collector hears
	// only at its next look around, half a minute on.
	Kinds func(context.Context, *rest.Config) error
	// Progress is told when a part is ready and how long it took; may be nil.
	Progress func(part string, took time.Duration)
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	pki        *PKI
	server     string
	port       int
	kubeconfig string
	log        *LogFile
	store      *store

	apiServer *part
	manager   *part

	stopOnce sync.Once
	stopping chan struct{}
	done     chan struct{}

	mu  sync.Mutex
	err error
}

// ErrPortInUse says that the port asked for belongs to somebody else.
var ErrPortInUse = errors.New("port is in use")

// Start runs etcd, kube-apiserver and kube-controller-manager and returns when
// all three are ready. They run until Stop or until ctx ends.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	if o.Progress == nil {
		o.Progress = func(string, time.Duration) {}
	}
	if o.Kubeconfig == "" {
		o.Kubeconfig = filepath.Join(o.Dir, "kubeconfig")
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	port, err := choosePort(o.Port)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{
		server:     fmt.Sprintf("https://127.0.0.1:%d", port),
		port:       port,
		kubeconfig: o.Kubeconfig,
		stopping:   make(chan struct{}),
		done:       make(chan struct{}),
	}
	if err := c.start(ctx, o, port); err != nil {
		c.Stop()
		return nil, err
	}
	go c.watch(ctx)
	return c, nil
}

// start brings the parts up one after the other.
func (c *ControlPlane) start(ctx context.Context, o Options, port int) error {
	var err error
	if c.log, err = OpenLogFile(filepath.Join(o.Dir, "log", "control-plane.log")); err != nil {
		return err
	}
	SendKlogTo(c.log)
	if err := stampVersion(); err != nil {
		return err
	}
	// Both components apply logging settings; the same ones twice are fine.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	// Warnings of the API server about what these components ask for concern nobody here.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})

	if c.pki, err = loadPKI(filepath.Join(o.Dir, "pki"), o.ExtraHosts); err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	begun := time.Now()
	if c.store, err = startStore(starting, filepath.Join(o.Dir, "etcd"), o.Ephemeral, c.log); err != nil {
		return err
	}
	o.Progress("etcd", time.Since(begun))

	begun = time.Now()
	if err := c.startServer(starting, port); err != nil {
		return err
	}
	if err := writeKubeconfig(c.pki, o.Kubeconfig, c.server, AdminUser, mastersGroup); err != nil {
		return err
	}
	o.Progress("kube-apiserver", time.Since(begun))

	if o.Kinds != nil {
		begun = time.Now()
		if err := o.Kinds(starting, c.RESTConfig()); err != nil {
			return err
		}
		o.Progress("kinds", time.Since(begun))
	}

	begun = time.Now()
	if err := c.startManager(starting); err != nil {
		return err
	}
	o.Progress("kube-controller-manager", time.Since(begun))
	return nil
}

func (c *ControlPlane) startServer(starting context.Context, port int) error {
	run, err := newAPIServer(starting, apiServerFlags(c.pki, c.store.endpoint(), port))
	if err != nil {
		return err
	}
	c.apiServer = startPart("kube-apiserver", run)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	err = waitForAPIServer(starting, client, c.apiServer)
	if starting.Err() != nil {
		// An API server that is stopped before it has started for good takes
		// the whole process with it: let it finish first.
		patience, cancel := context.WithTimeout(context.WithoutCancel(starting), stopTimeout)
		defer cancel()
		_ = waitForAPIServer(patience, client, c.apiServer)
	}
	return err
}

func (c *ControlPlane) startManager(starting context.Context) error {
	kubeconfig := c.pki.path("controller-manager.kubeconfig")
	if err := writeKubeconfig(c.pki, kubeconfig, c.server, "system:kube-controller-manager", mastersGroup); err != nil {
		return err
	}
	run, err := newControllerManager(controllerManagerFlags(c.pki, kubeconfig))
	if err != nil {
		return err
	}
	c.manager = startPart("kube-controller-manager", run)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	return waitForControllers(starting, client, c.manager)
}

// watch stops everything when ctx ends or a part dies by itself.
func (c *ControlPlane) watch(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-c.stopping:
	case err := <-c.store.failed():
		c.fail(fmt.Errorf("etcd ended: %w", err))
	case <-c.apiServer.done:
		c.fail(c.apiServer.ended())
	case <-c.manager.done:
		c.fail(c.manager.ended())
	}
	c.Stop()
}

func (c *ControlPlane) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// RESTConfig is a fresh client configuration of the administrator.
func (c *ControlPlane) RESTConfig() *rest.Config {
	config, err := c.ConfigFor(AdminUser, mastersGroup)
	if err != nil {
		// Signing in memory fails only when the authority's file is gone; the
		// first request will say so.
		return &rest.Config{Host: c.server}
	}
	return config
}

// ConfigFor is a client configuration for another user, known by certificate;
// what it may do is up to RBAC.
func (c *ControlPlane) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	return configFor(c.pki, c.server, user, groups...)
}

// Server is the URL of the API server.
func (c *ControlPlane) Server() string { return c.server }

// KubeconfigPath is the administrator's kubeconfig.
func (c *ControlPlane) KubeconfigPath() string { return c.kubeconfig }

// PKI is the cluster's certificate authority.
func (c *ControlPlane) PKI() *PKI { return c.pki }

// Done is closed when the control plane has stopped, asked or not.
func (c *ControlPlane) Done() <-chan struct{} { return c.done }

// Err says why the control plane stopped by itself; nil when it was asked to.
func (c *ControlPlane) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Stop ends the parts in reverse order and waits for them. It may be called
// more than once; every call returns when all is over.
func (c *ControlPlane) Stop() {
	c.stopOnce.Do(func() {
		close(c.stopping)
		if err := errors.Join(c.manager.stop(), c.apiServer.stop()); err != nil && c.Err() == nil {
			c.fail(err)
		}
		if c.store != nil {
			c.store.stop()
		}
		close(c.done)
	})
	<-c.done
}

// choosePort returns a port that nobody listens on.
func choosePort(wanted int) (int, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", wanted))
	if err != nil {
		return 0, fmt.Errorf("%w: 127.0.0.1:%d", ErrPortInUse, wanted)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// PortFree says whether nobody listens on the port of 127.0.0.1 now.
func PortFree(port int) bool {
	_, err := choosePort(port)
	return err == nil
}

// Port of the API server.
func (c *ControlPlane) Port() int { return c.port }
