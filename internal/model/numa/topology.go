package numa

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Topology is the content of a node's Numatopology: its CPUs, their arrangement, and which of them are free. A
// Topology is replaced, never changed.
type Topology struct {
	// CPUManager and TopologyManager are the policies of the kubelet's managers; "" if unknown.
	CPUManager, TopologyManager string
	// CPUs lists the node's CPUs by number, ascending.
	CPUs []CPU
	// Free holds the CPUs that are not assigned exclusively to a container, as last reported by the node's agent.
	Free CPUSet
	// HasFree is true if the agent reported the free CPUs.
	HasFree bool
	// ReservedMilliCPU is the amount that is reserved for the system and not available to pods.
	ReservedMilliCPU int64
	// Seen holds the pods, by UID and by namespace/name, whose CPUs the agent has already removed from Free.
	Seen map[string]bool
	// Problem describes what is invalid in the object; "" if it is valid. Pods with a NUMA policy are not placed on
	// an invalid node.
	Problem string
}

// CPU describes the position of a CPU. The number of a core is unique only within its socket.
type CPU struct{ ID, Node, Socket, Core int }

// TopologyFrom converts a Numatopology.
func TopologyFrom(o *nodeinfov1alpha1.Numatopology) Topology {
	n := Topology{
		CPUManager:      o.Spec.Policies[nodeinfov1alpha1.CPUManagerPolicy],
		TopologyManager: o.Spec.Policies[nodeinfov1alpha1.TopologyManagerPolicy],
		Seen:            podsSeenByAgent(o),
	}
	problem := func(format string, args ...any) {
		if n.Problem == "" {
			n.Problem = fmt.Sprintf(format, args...)
		}
	}
	for _, key := range sortedKeys(o.Spec.CPUDetail) {
		info := o.Spec.CPUDetail[key]
		id, err := parseCPUNumber(key)
		if err != nil {
			problem("cpuDetail: %v", err)
			continue
		}
		if info.NUMANodeID < 0 || info.NUMANodeID >= 64 {
			problem("cpuDetail[%d].numa: must be from 0 to 63, not %d", id, info.NUMANodeID)
			continue
		}
		n.CPUs = append(n.CPUs, CPU{ID: id, Node: info.NUMANodeID, Socket: info.SocketID, Core: info.CoreID})
	}
	slices.SortFunc(n.CPUs, func(a, b CPU) int { return a.ID - b.ID })
	n.CPUs = slices.CompactFunc(n.CPUs, func(a, b CPU) bool { return a.ID == b.ID }) // the keys "1" and "01" are the same CPU
	if cpu, ok := o.Spec.NumaResMap[string(corev1.ResourceCPU)]; ok {
		free, err := ParseCPUs(cpu.Allocatable)
		if err != nil {
			problem("numares[cpu].allocatable: %v", err)
		}
		n.Free, n.HasFree = free, true
	}
	if text, ok := o.Spec.ResReserved[string(corev1.ResourceCPU)]; ok && text != "" {
		q, err := apiresource.ParseQuantity(text)
		if err != nil {
			problem("resReserved[cpu]: %q is no quantity", text)
		} else {
			n.ReservedMilliCPU = resource.RoundUp(corev1.ResourceCPU, q)
		}
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// podsSeenByAgent returns the pods whose CPUs the agent has already removed from Free. Agents use different formats for
// podAllocations: an object keyed by UID or namespace/name, or a list of objects that contain either.
func podsSeenByAgent(o *nodeinfov1alpha1.Numatopology) map[string]bool {
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

// addIdentity adds to seen the pod identifiers that an entry contains.
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

// HasSeenPod reports whether the agent has already removed a pod's CPUs from Free. key is namespace/name.
func (n *Topology) HasSeenPod(uid types.UID, key string) bool {
	return n.Seen[string(uid)] || n.Seen[key]
}
