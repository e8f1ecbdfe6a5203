package processnode

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/local/processnode/lifecycle"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// Config says what node to be.
type Config struct {
	// Name of the node, needed.
	Name string
	// REST is how the API server is reached, needed.
	REST *rest.Config
	// Dir holds the node's state, needed. Its parent names the cluster: nodes below one parent share a bridge, addresses and names.
	Dir string
	// Mask lists directories that no pod may see, beside Dir's parent.
	Mask []string
	// Capacity overrides what the machine has: cpu, memory, ephemeral-storage, pods (110), and any other resource.
	Capacity corev1.ResourceList
	// Labels are added to the ones every node has.
	Labels map[string]string
	// Annotations of the node.
	Annotations map[string]string
	// Taints of the node.
	Taints []corev1.Taint
	// Listen is the address of the kubelet's port; default 127.0.0.1:0.
	Listen string
	// Serving is the certificate of that port. Without one there are no logs, exec, attach and port-forward.
	Serving tls.Certificate
	// ClientCA signs the certificates of the clients that may use the port.
	ClientCA *x509.CertPool
	// BackOffBase and BackOffMax bound the wait before a container starts again: default 1 s doubling to 5 min (the kubelet's
	// base is 10 s, which on one's own machine is only waiting).
	BackOffBase, BackOffMax time.Duration
	// Log takes what a person must know; the zero value is klog.
	Log logr.Logger
	// Warn is told once, at start, a line for each thing that the machine does not permit; may be nil.
	Warn func(line string)
}

func (c *Config) complete() error {
	if c.Name == "" {
		return errors.New("node: a name is needed")
	}
	if problems := validation.IsDNS1123Subdomain(c.Name); len(problems) > 0 {
		return fmt.Errorf("node %q: %s", c.Name, problems[0])
	}
	if c.REST == nil {
		return fmt.Errorf("node %s: no way to the API server is given", c.Name)
	}
	if c.Dir == "" {
		return fmt.Errorf("node %s: a state directory is needed", c.Name)
	}
	absolute, err := filepath.Abs(c.Dir)
	if err != nil {
		return fmt.Errorf("node %s: state directory: %w", c.Name, err)
	}
	c.Dir = absolute
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.BackOffBase == 0 {
		c.BackOffBase = time.Second
	}
	if c.BackOffMax == 0 {
		c.BackOffMax = 5 * time.Minute
	}
	if c.Log.IsZero() {
		c.Log = klog.Background()
	}
	c.Log = c.Log.WithValues("node", c.Name)
	return nil
}

func (c *Config) backOff() lifecycle.BackOff {
	return lifecycle.BackOff{Base: c.BackOffBase, Max: c.BackOffMax}
}

// ShimMain turns the process into a container's init if it was started as one, and never returns then. It is the first thing in the
// main function of a program that runs process nodes, and in TestMain of tests that do.
func ShimMain() { shim.Main() }
