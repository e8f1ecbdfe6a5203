package simnode

import (
	"errors"
	"fmt"
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
	// KindLabel is the node label that says what kind of node vc-local made.
	KindLabel = "vc-batch.dev/node-kind"
	// KindSimulated is KindLabel's value on nodes that a fleet serves.
	KindSimulated = "simulated"
	// Never, as a start delay, leaves bound pods Pending for good.
	Never time.Duration = -1
	// HeartbeatInterval is the time between two renewals of one node's lease.
	HeartbeatInterval = 200 * time.Second
	// LeaseDuration is what the leases promise. kube-controller-manager's
	// --node-monitor-grace-period must not be shorter.
	LeaseDuration = 3 * HeartbeatInterval

	defaultNamePrefix = "sim-"
	defaultWriters    = 16
	heartbeatWriters  = 4
)

// Spec is one simulated node by name.
type Spec struct {
	// Name is the node's name, a DNS subdomain.
	Name string
	// Capacity is what the node offers; empty means the fleet's. A capacity
	// without "pods" gets 110 of them.
	Capacity corev1.ResourceList
	// Labels are added to the fleet's.
	Labels map[string]string
	// Taints are put on the node as they are.
	Taints []corev1.Taint
}

// Config says what a fleet consists of. The zero value of a field means its default.
type Config struct {
	// RESTConfig reaches the API server. Its client-side limits are lifted on a
	// copy: the number of writers bounds the fleet.
	RESTConfig *rest.Config
	// Client is used instead of RESTConfig when it is set.
	Client kubernetes.Interface
	// Count nodes are made, named NamePrefix followed by 1 … Count.
	Count int
	// NamePrefix is "sim-" by default.
	NamePrefix string
	// Nodes are made besides.
	Nodes []Spec
	// Capacity of the nodes that name none: cpu 8 and memory 32Gi by default.
	Capacity corev1.ResourceList
	// Labels are put on every node of Count and Nodes.
	Labels map[string]string
	// StartDelay is the time from a pod's binding to Running, where the pod
	// itself does not say; Never leaves it Pending.
	StartDelay time.Duration
	// Writers bounds the parallel writes to the API server: 16 by default.
	Writers int
	// Progress, if set, is called with the number of nodes that are ready.
	Progress func(done, total int)
	// Logger gets what a person must know (0) and each node (4).
	Logger logr.Logger
}

// DefaultCapacity is the capacity of a node for which nobody named one.
func DefaultCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("8"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
	}
}

// ParseStart reads a start delay: a duration such as "5s", or "never".
func ParseStart(text string) (time.Duration, error) {
	if strings.EqualFold(strings.TrimSpace(text), "never") {
		return Never, nil
	}
	delay, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || delay < 0 {
		return 0, fmt.Errorf("start delay %q: want a duration such as 0s, 500ms or 5s, or never", text)
	}
	return delay, nil
}

// FormatStart is the text that ParseStart reads as delay.
func FormatStart(delay time.Duration) string {
	if delay < 0 {
		return "never"
	}
	return delay.String()
}

// specs are all the nodes that the configuration names, complete and in order.
func (c Config) specs() []Spec {
	prefix := c.NamePrefix
	if prefix == "" {
		prefix = defaultNamePrefix
	}
	all := make([]Spec, 0, c.Count+len(c.Nodes))
	for i := range c.Count {
		all = append(all, c.complete(Spec{Name: fmt.Sprintf("%s%d", prefix, i+1)}))
	}
	for _, spec := range c.Nodes {
		all = append(all, c.complete(spec))
	}
	return all
}

// complete fills what a spec leaves to the fleet.
func (c Config) complete(spec Spec) Spec {
	if len(spec.Capacity) == 0 {
		spec.Capacity = c.Capacity
	}
	if len(spec.Capacity) == 0 {
		spec.Capacity = DefaultCapacity()
	}
	labels := make(map[string]string, len(c.Labels)+len(spec.Labels))
	for key, value := range c.Labels {
		labels[key] = value
	}
	for key, value := range spec.Labels {
		labels[key] = value
	}
	spec.Labels = labels
	return spec
}

// validate reports everything that is wrong with the configuration.
func (c Config) validate() error {
	var errs []error
	if c.Client == nil && c.RESTConfig == nil {
		errs = append(errs, errors.New("simulated nodes: neither a client nor a REST configuration given"))
	}
	if c.Count < 0 {
		return errors.Join(append(errs, fmt.Errorf("simulated nodes: count %d is negative", c.Count))...)
	}
	return errors.Join(append(errs, validateSpecs(c.specs()))...)
}

// validateSpecs reports bad and repeated names and negative capacities.
func validateSpecs(specs []Spec) error {
	var errs []error
	seen := make(map[string]bool, len(specs))
	for _, spec := range specs {
		for _, problem := range validation.IsDNS1123Subdomain(spec.Name) {
			errs = append(errs, fmt.Errorf("simulated node %q: name: %s", spec.Name, problem))
		}
		if seen[spec.Name] {
			errs = append(errs, fmt.Errorf("simulated node %q: named twice", spec.Name))
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
