package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
)

// Numa is a node's Numatopology: how its cpus are arranged and which are free.
// It is replaced, never changed.
type Numa struct {
	// Policies of the kubelet's managers; "" where not told.
	CPUManager, TopologyManager string
	// CPUs by number, ascending.
	CPUs []LogicalCPU
	// Free are those that no container has for itself, as the node's agent last saw.
	Free CPUSet
	// HasFree: the agent said which are free.
	HasFree bool
	// ReservedMilliCPU is kept from pods.
	ReservedMilliCPU int64
	// Seen are the pods, by uid and namespace/name, whose cpus are out of Free already.
	Seen map[string]bool
	// Problem is what of the object cannot be read; such a node takes nobody who cares.
	Problem string
}

// LogicalCPU says where a cpu sits. A core's number is unique in its socket only.
type LogicalCPU struct{ ID, Node, Socket, Core int }

// NumaSet adds or replaces a node's Numatopology.
type NumaSet struct {
	Node string
	Numa Numa
}

// NumaGone removes a node's Numatopology.
type NumaGone struct{ Node string }

func (d NumaSet) apply(c *Cluster) {
	c.Numa[d.Node] = &d.Numa
	c.relabel(d.Node)
}

func (d NumaGone) apply(c *Cluster) {
	delete(c.Numa, d.Node)
	c.relabel(d.Node)
}

// relabel marks a node's surroundings as changed: what was judged of it is judged anew.
func (c *Cluster) relabel(node string) {
	if id, ok := c.Nodes.byName[node]; ok && c.Nodes.Alive[id] {
		c.Nodes.Labeled[id] = c.next()
		c.touch(id)
	}
}

// NumaFrom reads a Numatopology.
func NumaFrom(o *nodeinfov1alpha1.Numatopology) NumaSet {
	n := Numa{
		CPUManager:      o.Spec.Policies[nodeinfov1alpha1.CPUManagerPolicy],
		TopologyManager: o.Spec.Policies[nodeinfov1alpha1.TopologyManagerPolicy],
		Seen:            seenPods(o),
	}
	problem := func(format string, args ...any) {
		if n.Problem == "" {
			n.Problem = fmt.Sprintf(format, args...)
		}
	}
	for _, key := range sortedKeys(o.Spec.CPUDetail) {
		info := o.Spec.CPUDetail[key]
		id, err := cpuNumber(key)
		if err != nil {
			problem("cpuDetail: %v", err)
			continue
		}
		if info.NUMANodeID < 0 || info.NUMANodeID >= 64 {
			problem("cpuDetail[%d].numa: want 0 to 63, have %d", id, info.NUMANodeID)
			continue
		}
		n.CPUs = append(n.CPUs, LogicalCPU{ID: id, Node: info.NUMANodeID, Socket: info.SocketID, Core: info.CoreID})
	}
	slices.SortFunc(n.CPUs, func(a, b LogicalCPU) int { return a.ID - b.ID })
	n.CPUs = slices.CompactFunc(n.CPUs, func(a, b LogicalCPU) bool { return a.ID == b.ID }) // "1" and "01"
	if cpu, ok := o.Spec.NumaResMap[string(corev1.ResourceCPU)]; ok {
		free, err := ParseCPUs(cpu.Allocatable)
		if err != nil {
			problem("numares[cpu].allocatable: %v", err)
		}
		n.Free, n.HasFree = free, true
	}
	if text, ok := o.Spec.ResReserved[string(corev1.ResourceCPU)]; ok && text != "" {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			problem("resReserved[cpu]: %q is no quantity", text)
		} else {
			n.ReservedMilliCPU = ceil(corev1.ResourceCPU, q)
		}
	}
	return NumaSet{Node: o.Name, Numa: n}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// seenPods reads which pods' cpus the agent has taken out already. The form of
// podAllocations is the agent's: an object by uid or namespace/name, or a list
// of objects that have either.
func seenPods(o *nodeinfov1alpha1.Numatopology) map[string]bool {
	if o.Spec.PodAllocations == nil {
		return nil
	}
	seen := map[string]bool{}
	var byKey map[string]json.RawMessage
	if err := json.Unmarshal(o.Spec.PodAllocations.Raw, &byKey); err == nil {
		for key, value := range byKey {
			seen[key] = true
			addIdentity(seen, value)
		}
		return seen
	}
	var list []json.RawMessage
	if err := json.Unmarshal(o.Spec.PodAllocations.Raw, &list); err == nil {
		for _, value := range list {
			addIdentity(seen, value)
		}
	}
	return seen
}

// addIdentity adds what an entry says of whose it is.
func addIdentity(seen map[string]bool, value json.RawMessage) {
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		if _, err := strconv.Atoi(text); err != nil {
			seen[text] = true
		}
		return
	}
	var id struct {
		UID, PodUID                        string
		Namespace, Name                    string
		PodNamespace, PodName, PodKey, Pod string
	}
	if json.Unmarshal(value, &id) != nil {
		return
	}
	for _, key := range []string{id.UID, id.PodUID, id.PodKey, id.Pod} {
		if key != "" {
			seen[key] = true
		}
	}
	if id.Name != "" {
		seen[id.Namespace+"/"+id.Name] = true
	}
	if id.PodName != "" {
		seen[id.PodNamespace+"/"+id.PodName] = true
	}
}

// Shows says whether the agent has taken a task's cpus out of Free already.
func (n *Numa) Shows(t *Task) bool { return n.Seen[string(t.UID)] || n.Seen[t.Key()] }
