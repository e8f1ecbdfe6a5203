package processnode

import (
	"cmp"
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

// Config configures a node.
type Config struct {
	// Name is the node's name. It is required.
	Name string
	// REST is the client configuration for the API server. It is required.
	REST *rest.Config
	// Dir contains the node's state. It is required. Its parent identifies the cluster: nodes whose directories have
	// the same parent share a bridge, addresses and names.
	Dir string
	// Mask lists directories that are hidden from pods, in addition to Dir's parent.
	Mask []string
	// Capacity overrides the machine's capacity for cpu, memory, ephemeral-storage, pods (110), and any other
	// resource.
	Capacity corev1.ResourceList
	// Labels are added to the standard labels.
	Labels map[string]string
	// Annotations are the node's annotations.
	Annotations map[string]string
	// Taints are the node's taints.
	Taints []corev1.Taint
	// Listen is the address of the kubelet's port. The default is 127.0.0.1:0.
	Listen string
	// Serving is the certificate for that port. Without it, logs, exec, attach and port-forward are not available.
	Serving tls.Certificate
	// ClientCA contains the authorities that sign the certificates of clients that may use the port.
	ClientCA *x509.CertPool
	// BackOffBase and BackOffMax are the minimum and maximum pause before a container is restarted. By default, the
	// pause is 1 s and doubles up to 5 min. The kubelet starts with 10 s, which is needlessly long on a local
	// machine.
	BackOffBase, BackOffMax time.Duration
	// Log receives log entries. The zero value uses klog.
	Log logr.Logger
	// Warn is called at startup with a line about each feature that the machine does not permit. It may be nil.
	Warn func(line string)
}

func (c *Config) setDefaults() error {
	if c.Name == "" {
		return errors.New("a node must have a name")
	}
	if problems := validation.IsDNS1123Subdomain(c.Name); len(problems) > 0 {
		return fmt.Errorf("node %q: %s", c.Name, problems[0])
	}
	if c.REST == nil {
		return fmt.Errorf("node %s: the configuration has no connection to the API server", c.Name)
	}
	if c.Dir == "" {
		return fmt.Errorf("node %s: the configuration has no state directory", c.Name)
	}
	absolute, err := filepath.Abs(c.Dir)
	if err != nil {
		return fmt.Errorf("node %s: state directory: %w", c.Name, err)
	}
	c.Dir = absolute
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:0")
	c.BackOffBase = cmp.Or(c.BackOffBase, time.Second)
	if c.BackOffMax == 0 {
		c.BackOffMax = 5 * time.Minute
	}
	if c.Log.IsZero() {
		c.Log = klog.Background()
	}
	c.Log = c.Log.WithValues("node", c.Name)
	return nil
}

func (c *Config) backOffSettings() lifecycle.BackOff {
	return lifecycle.BackOff{Base: c.BackOffBase, Max: c.BackOffMax}
}

// ShimMain runs a container's init if the process was started as one, and then never returns. It must be called first
// in the main function of every program that runs process nodes, and in TestMain of tests that do.
func ShimMain() { shim.Main() }
