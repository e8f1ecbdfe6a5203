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

// startTimeout is the maximum time until all parts are ready. Starting normally takes seconds, but it takes much longer
// if the machine is busy.
const startTimeout = 3 * time.Minute

// AdminUser is the user in the kubeconfig. This user has all permissions.
const AdminUser = "vc-local-admin"

// Options configures a control plane.
type Options struct {
	// Dir holds all files: Dir/pki, Dir/etcd, Dir/log, Dir/kubeconfig. It is created with mode 0700 if it does not
	// exist.
	Dir string
	// Port is the API server's port on 127.0.0.1; 0 chooses a free one.
	Port int
	// Kubeconfig is the path of the administrator's kubeconfig. Empty means Dir/kubeconfig.
	Kubeconfig string
	// Ephemeral is true if data need not survive a power failure, so that writes do not wait for the disk.
	Ephemeral bool
	// ExtraHosts lists additional names and addresses of the API server for its certificate.
	ExtraHosts []string
	// APIServerFlags lists additional command-line flags of kube-apiserver. Feature gates and an emulated version apply
	// to all Kubernetes code in this process.
	APIServerFlags []string
	// ControllerManagerFlags lists additional command-line flags of kube-controller-manager.
	ControllerManagerFlags []string
	// Kinds installs the kinds that must exist when kube-controller-manager starts. It may be nil. Kinds that are
	// installed later work, too, but the garbage collector discovers them only after half a minute.
	Kinds func(context.Context, *rest.Config) error
	// Progress is called when a part is ready, with the time it took. It may be nil.
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

// ErrPortInUse is returned if another process uses the requested port.
var ErrPortInUse = errors.New("port is in use")

// Start starts etcd, kube-apiserver and kube-controller-manager and returns when all three are ready. They run until
// Stop is called or ctx is done.
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
	if err := c.startComponents(ctx, o, port); err != nil {
		c.Stop()
		return nil, err
	}
	go c.stopOnFailure(ctx)
	return c, nil
}

// startComponents starts the parts one after the other.
func (c *ControlPlane) startComponents(ctx context.Context, o Options, port int) error {
	var err error
	if c.log, err = OpenLogFile(filepath.Join(o.Dir, "log", "control-plane.log")); err != nil {
		return err
	}
	SendKlogTo(c.log)
	if err := stampVersion(); err != nil {
		return err
	}
	// Both components apply logging settings. Applying the same settings twice is harmless.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	// Suppress the API server's warnings about requests of these components.
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
	if err := c.startServer(starting, port, o.APIServerFlags); err != nil {
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
	if err := c.startManager(starting, o.ControllerManagerFlags); err != nil {
		return err
	}
	o.Progress("kube-controller-manager", time.Since(begun))
	return nil
}

func (c *ControlPlane) startServer(starting context.Context, port int, extraFlags []string) error {
	run, err := newAPIServer(starting, append(apiServerFlags(c.pki, c.store.endpoint(), port), extraFlags...))
	if err != nil {
		return err
	}
	c.apiServer = startComponent("kube-apiserver", run)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	err = waitForAPIServer(starting, client, c.apiServer)
	if starting.Err() != nil {
		// Stopping an API server while it starts would end the whole process, so wait until it has started.
		patience, cancel := context.WithTimeout(context.WithoutCancel(starting), stopTimeout)
		defer cancel()
		_ = waitForAPIServer(patience, client, c.apiServer)
	}
	return err
}

func (c *ControlPlane) startManager(starting context.Context, extraFlags []string) error {
	kubeconfig := c.pki.pathOfFile("controller-manager.kubeconfig")
	if err := writeKubeconfig(c.pki, kubeconfig, c.server, "system:kube-controller-manager", mastersGroup); err != nil {
		return err
	}
	run, err := newControllerManager(append(controllerManagerFlags(c.pki, kubeconfig), extraFlags...))
	if err != nil {
		return err
	}
	c.manager = startComponent("kube-controller-manager", run)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	return waitForControllers(starting, client, c.manager)
}

// stopOnFailure stops all parts when ctx is done or one of them fails.
func (c *ControlPlane) stopOnFailure(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-c.stopping:
	case err := <-c.store.failureChannel():
		c.recordFailure(fmt.Errorf("etcd ended: %w", err))
	case <-c.apiServer.done:
		c.recordFailure(c.apiServer.errorOfEnd())
	case <-c.manager.done:
		c.recordFailure(c.manager.errorOfEnd())
	}
	c.Stop()
}

func (c *ControlPlane) recordFailure(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// RESTConfig returns a new client configuration of the administrator.
func (c *ControlPlane) RESTConfig() *rest.Config {
	config, err := c.ConfigFor(AdminUser, mastersGroup)
	if err != nil {
		// Signing fails only if the authority's file is missing. In that case, the first request will return an error.
		return &rest.Config{Host: c.server}
	}
	return config
}

// ConfigFor returns a client configuration for a user, who is identified by a certificate. The user's permissions are
// controlled by RBAC.
func (c *ControlPlane) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	return configFor(c.pki, c.server, user, groups...)
}

// WriteKubeconfig writes a kubeconfig with which a user, who is identified by a certificate, connects to the API server
// at the given URL. The certificate of the API server must be valid for the host of the URL (see Options.ExtraHosts).
func (c *ControlPlane) WriteKubeconfig(path, server, user string, groups ...string) error {
	return writeKubeconfig(c.pki, path, server, user, groups...)
}

// APIServerURL returns the URL of the API server.
func (c *ControlPlane) APIServerURL() string { return c.server }

// KubeconfigPath returns the path of the administrator's kubeconfig.
func (c *ControlPlane) KubeconfigPath() string { return c.kubeconfig }

// PKI returns the cluster's certificate authority.
func (c *ControlPlane) PKI() *PKI { return c.pki }

// Done returns a channel that is closed when the control plane has stopped for any reason.
func (c *ControlPlane) Done() <-chan struct{} { return c.done }

// Err returns the error that stopped the control plane, or nil after Stop.
func (c *ControlPlane) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Stop ends the parts in reverse order and waits for them. It may be called more than once; every call returns after
// all parts have ended.
func (c *ControlPlane) Stop() {
	c.stopOnce.Do(func() {
		close(c.stopping)
		if err := errors.Join(c.manager.stopAndWait(), c.apiServer.stopAndWait()); err != nil && c.Err() == nil {
			c.recordFailure(err)
		}
		if c.store != nil {
			c.store.stopEtcd()
		}
		close(c.done)
	})
	<-c.done
}

// choosePort returns the wanted port of 127.0.0.1, or a free one if wanted is 0. It returns an error if another process
// is listening on the port.
func choosePort(wanted int) (int, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", wanted))
	if err != nil {
		return 0, fmt.Errorf("%w: 127.0.0.1:%d", ErrPortInUse, wanted)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// IsPortFree reports whether a port of 127.0.0.1 is currently free.
func IsPortFree(port int) bool {
	_, err := choosePort(port)
	return err == nil
}

// Port returns the API server's port.
func (c *ControlPlane) Port() int { return c.port }
