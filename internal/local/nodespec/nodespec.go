// Package nodespec reads the description of the nodes of a local cluster, from a nodes file or from flags, and expands
// it to single nodes with unique names.
//
//	In:   a YAML list, flags as text, the names that are in use
//	Out:  Spec, one entry of the list; Node, one node to run; errors with the entry and the field
//
// It is separate from package local because that package links a whole API server.
package nodespec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Kinds of nodes.
const (
	// KindProcess is a node that runs pods as processes on this machine.
	KindProcess = "process"
	// KindSimulated is a node that only simulates the phases of pods with timers.
	KindSimulated = "simulated"
)

// mostNodes is the maximum number of nodes, which is more than a machine can run. A larger number is assumed to be a
// typo.
const mostNodes = 50000

// Spec describes a node, or Count identical nodes. It is an entry in a nodes file.
type Spec struct {
	// Name is the node's name. If Count is above 1, it is the prefix of the names, which end in -1, -2, and so on. If
	// it is empty, the names are node-N or sim-N with the next free numbers.
	Name string `json:"name,omitempty"`
	// Kind is process (the default) or simulated.
	Kind string `json:"kind,omitempty"`
	// Count defaults to 1; 0 means no node.
	Count *int `json:"count,omitempty"`
	// CPU and Memory are quantities. If they are empty, a process node has the machine's capacity, and a simulated
	// node has 8 and 32Gi.
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
	// Resources holds further resources by name, for example nvidia.com/gpu: "4" or pods: "500".
	Resources map[string]string `json:"resources,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Taints are in kubectl's format: key=value:NoSchedule or key:NoExecute.
	Taints []string `json:"taints,omitempty"`
}

// Node is a node to run.
type Node struct {
	Name     string
	Kind     string
	Capacity corev1.ResourceList
	Labels   map[string]string
	Taints   []corev1.Taint
}

// Parse parses a nodes file and validates every entry.
func Parse(data []byte) ([]Spec, error) {
	if err := checkBooleans(data); err != nil {
		return nil, err
	}
	var specs []Spec
	if err := yaml.UnmarshalStrict(data, &specs); err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "error unmarshaling JSON: "))
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("the file contains no nodes")
	}
	if _, err := ExpandSpecs(specs, nil); err != nil {
		return nil, err
	}
	return specs, nil
}

// checkBooleans returns an error for values that YAML treats as booleans, such as n, no, y and on without quotes. Spec
// has no boolean fields, and the decoder would convert these values to the strings "true" and "false".
func checkBooleans(data []byte) error {
	var entries []map[string]any
	if yaml.Unmarshal(data, &entries) != nil {
		return nil //nolint:nilerr // Parse reports the error
	}
	for i, entry := range entries {
		for _, name := range slices.Sorted(maps.Keys(entry)) {
			if value, ok := entry[name].(bool); ok {
				return fmt.Errorf("%s: YAML reads this value as the boolean %t; put the value in quotes", field.NewPath("nodes").Index(i).Child(name), value)
			}
		}
	}
	return nil
}

// ExpandSpecs converts specs to individual nodes with unique names. taken contains existing names. Errors name the
// entry and the field.
func ExpandSpecs(specs []Spec, taken map[string]bool) ([]Node, error) {
	used := map[string]bool{}
	for name := range taken {
		used[name] = true
	}
	// Assign explicit names first, so that a numbered name never takes one of them.
	for i, spec := range specs {
		for _, name := range spec.givenNames() {
			if used[name] {
				return nil, fmt.Errorf("nodes[%d].name: node %q already exists", i, name)
			}
			used[name] = true
		}
	}
	var nodes []Node
	for i, spec := range specs {
		at := field.NewPath("nodes").Index(i)
		template, err := spec.nodeTemplate(at)
		if err != nil {
			return nil, err
		}
		if reasons := validation.IsDNS1123Subdomain(spec.Name); spec.Name != "" && len(reasons) > 0 {
			return nil, fmt.Errorf("%s: %q is not a valid node name: use lowercase letters, digits, '-' and '.', at most 253 characters", at.Child("name"), spec.Name)
		}
		names := spec.givenNames()
		if names == nil {
			names = nextFreeNames(template.Kind, spec.countOrOne(), used)
		}
		for _, name := range names {
			node := template
			node.Name = name
			nodes = append(nodes, node)
		}
	}
	if len(nodes) > mostNodes {
		return nil, fmt.Errorf("%d nodes exceed the maximum of %d", len(nodes), mostNodes)
	}
	return nodes, nil
}

func (s Spec) countOrOne() int {
	if s.Count == nil {
		return 1
	}
	return *s.Count
}

// givenNames returns the explicit names in the spec, or nil if the nodes are to be numbered.
func (s Spec) givenNames() []string {
	if s.Name == "" {
		return nil
	}
	if s.countOrOne() == 1 {
		return []string{s.Name}
	}
	names := []string{}
	for n := 1; n <= min(s.countOrOne(), mostNodes+1); n++ {
		names = append(names, fmt.Sprintf("%s-%d", s.Name, n))
	}
	return names
}

func nextFreeNames(kind string, count int, used map[string]bool) []string {
	prefix := "node-"
	if kind == KindSimulated {
		prefix = "sim-"
	}
	names := []string{}
	for n := 1; len(names) < min(count, mostNodes+1); n++ {
		if name := fmt.Sprintf("%s%d", prefix, n); !used[name] {
			used[name] = true
			names = append(names, name)
		}
	}
	return names
}

// nodeTemplate returns the node without its name.
func (s Spec) nodeTemplate(at *field.Path) (Node, error) {
	node := Node{Kind: s.Kind, Labels: s.Labels, Capacity: corev1.ResourceList{}}
	node.Kind = cmp.Or(node.Kind, KindProcess)
	if node.Kind != KindProcess && node.Kind != KindSimulated {
		return node, fmt.Errorf("%s: %q is not valid; use process or simulated", at.Child("kind"), s.Kind)
	}
	if s.countOrOne() < 0 {
		return node, fmt.Errorf("%s: %d is negative", at.Child("count"), s.countOrOne())
	}
	if errs := metav1validation.ValidateLabels(s.Labels, at.Child("labels")); len(errs) > 0 {
		return node, errs[0]
	}
	if err := s.readCapacity(at, node.Capacity); err != nil {
		return node, err
	}
	for i, text := range s.Taints {
		taint, err := ParseTaint(text)
		if err != nil {
			return node, fmt.Errorf("%s: %w", at.Child("taints").Index(i), err)
		}
		node.Taints = append(node.Taints, taint)
	}
	return node, nil
}

func (s Spec) readCapacity(at *field.Path, list corev1.ResourceList) error {
	quantities := map[string]string{}
	maps.Copy(quantities, s.Resources)
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: s.CPU, corev1.ResourceMemory: s.Memory} {
		if text != "" {
			quantities[string(name)] = text
		}
	}
	for name, text := range quantities {
		if reasons := validation.IsQualifiedName(name); len(reasons) > 0 {
			return fmt.Errorf("%s: resource name %q: %s", at.Child("resources"), name, reasons[0])
		}
		quantity, err := ParseQuantity(text)
		if err != nil {
			return fmt.Errorf("%s: %w", at.Child(name), err)
		}
		needed := name == string(corev1.ResourceCPU) || name == string(corev1.ResourceMemory)
		if needed && quantity.IsZero() {
			return fmt.Errorf("%s: a node without %s cannot run pods", at.Child(name), name)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return nil
}

// ParseQuantity parses a non-negative quantity.
func ParseQuantity(text string) (resource.Quantity, error) {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return quantity, fmt.Errorf("%q is not a valid quantity; use a value such as 500m, 4 or 8Gi", text)
	}
	if quantity.Sign() < 0 {
		return quantity, fmt.Errorf("%s is negative", text)
	}
	return quantity, nil
}

// ParseTaint parses key=value:Effect or key:Effect.
func ParseTaint(text string) (corev1.Taint, error) {
	key, effect, found := strings.Cut(text, ":")
	key, value, _ := strings.Cut(key, "=")
	taint := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	isEffect := found && slices.Contains([]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}, taint.Effect)
	if !isEffect || len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
		return taint, fmt.Errorf("taint %q is not valid; use KEY[=VALUE]:EFFECT with the effect NoSchedule, PreferNoSchedule or NoExecute", text)
	}
	return taint, nil
}

// ParsePairs parses words of the form NAME=VALUE.
func ParsePairs(words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	pairs := map[string]string{}
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE", word)
		}
		pairs[name] = value
	}
	return pairs, nil
}
