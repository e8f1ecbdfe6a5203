package simnode

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// KindLabel is the label that contains the kind of a node created by vc-local.
	KindLabel = "vc-batch.dev/node-kind"
	// KindSimulated is the value of KindLabel for nodes that a fleet serves.
	KindSimulated = "simulated"
	// Never is a start delay that keeps bound pods Pending forever.
	Never time.Duration = -1
	// HeartbeatInterval is how often a node's lease is renewed.
	HeartbeatInterval = 200 * time.Second
	// LeaseDuration is the duration of the leases. The value of kube-controller-manager's --node-monitor-grace-period
	// must not be shorter.
	LeaseDuration = 3 * HeartbeatInterval

	defaultNamePrefix = "sim-"
	defaultWriters    = 16
	heartbeatWriters  = 4
)

// Spec describes a simulated node.
type Spec struct {
	// Name is the node's name, a DNS subdomain.
	Name string
	// Capacity is the node's capacity; empty means the capacity of the fleet. If it does not contain "pods", the node
	// gets 110.
	Capacity corev1.ResourceList
	// Labels are added to the fleet's labels.
	Labels map[string]string
	// Taints are the node's taints.
	Taints []corev1.Taint
}

// Config configures a fleet. The zero value of a field means its default.
type Config struct {
	// RESTConfig is the client configuration for the API server. The fleet uses a copy without client-side rate
	// limits, because Writers limits its load.
	RESTConfig *rest.Config
	// Client, if set, is used instead of RESTConfig.
	Client kubernetes.Interface
	// Count is the number of nodes that are named NamePrefix followed by 1 … Count.
	Count int
	// NamePrefix defaults to "sim-".
	NamePrefix string
	// Nodes are additional nodes.
	Nodes []Spec
	// Capacity is the capacity of nodes that do not specify their own; the default is cpu 8 and memory 32Gi.
	Capacity corev1.ResourceList
	// Labels are added to all nodes.
	Labels map[string]string
	// StartDelay is the time from the binding of a pod until the pod is Running, unless the pod's annotations override
	// it. The value Never keeps pods Pending.
	StartDelay time.Duration
	// Writers is the maximum number of parallel writes to the API server. The default is 16.
	Writers int
	// Progress, if set, is called with the number of nodes that are ready.
	Progress func(done, total int)
	// Logger receives messages that users must see (level 0) and details about each node (level 4).
	Logger logr.Logger
}

// DefaultCapacity returns the default capacity of a node.
func DefaultCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("8"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
	}
}

// ParseStart parses a start delay: a duration such as "5s", or "never".
func ParseStart(text string) (time.Duration, error) {
	if strings.EqualFold(strings.TrimSpace(text), "never") {
		return Never, nil
	}
	delay, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || delay < 0 {
		return 0, fmt.Errorf("start delay %q: use a duration such as 0s, 500ms or 5s, or never", text)
	}
	return delay, nil
}

// completedSpecs returns all nodes of the configuration in order, with defaults filled in.
func (c Config) completedSpecs() []Spec {
	prefix := c.NamePrefix
	prefix = cmp.Or(prefix, defaultNamePrefix)
	all := make([]Spec, 0, c.Count+len(c.Nodes))
	for i := range c.Count {
		all = append(all, c.completeSpec(Spec{Name: fmt.Sprintf("%s%d", prefix, i+1)}))
	}
	for _, spec := range c.Nodes {
		all = append(all, c.completeSpec(spec))
	}
	return all
}

// completeSpec fills in the fleet's defaults in a spec.
func (c Config) completeSpec(spec Spec) Spec {
	if len(spec.Capacity) == 0 {
		spec.Capacity = c.Capacity
	}
	if len(spec.Capacity) == 0 {
		spec.Capacity = DefaultCapacity()
	}
	labels := map[string]string{}
	maps.Copy(labels, c.Labels)
	maps.Copy(labels, spec.Labels)
	spec.Labels = labels
	return spec
}

// validateConfig returns all errors in the configuration.
func (c Config) validateConfig() error {
	var errs []error
	if c.Client == nil && c.RESTConfig == nil {
		errs = append(errs, errors.New("simulated nodes: specify a client or a REST configuration"))
	}
	if c.Count < 0 {
		return errors.Join(append(errs, fmt.Errorf("simulated nodes: count %d is negative", c.Count))...)
	}
	return errors.Join(append(errs, validateSpecs(c.completedSpecs()))...)
}

// validateSpecs returns errors for invalid and duplicate names and negative capacities.
func validateSpecs(specs []Spec) error {
	var errs []error
	seen := make(map[string]bool, len(specs))
	for _, spec := range specs {
		for _, problem := range validation.IsDNS1123Subdomain(spec.Name) {
			errs = append(errs, fmt.Errorf("simulated node %q: name: %s", spec.Name, problem))
		}
		if seen[spec.Name] {
			errs = append(errs, fmt.Errorf("simulated node %q is listed twice", spec.Name))
		}
		seen[spec.Name] = true
		for name, quantity := range spec.Capacity {
			if quantity.Sign() < 0 {
				errs = append(errs, fmt.Errorf("simulated node %q: capacity %s: %s is negative", spec.Name, name, quantity.String()))
			}
		}
	}
	return errors.Join(errs...)
}
