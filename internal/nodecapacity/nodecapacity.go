package nodecapacity

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Room holds a node's allocatable and idle resources.
type Room struct {
	// Name is the node's name, and Status is its state in kubectl's wording.
	Name, Status string
	// Has is the allocatable amount, Idle the part that is not requested. Idle may be negative.
	Has, Idle Amounts
	// Usable reports whether the node accepts pods: it is ready and not cordoned.
	Usable bool
	// Unknown means that the user may not read the node's pods, so Idle is unknown.
	Unknown bool
}

// RoomOfAllNodes returns the resources of every node, in the order of their names. Pods on other nodes do not count.
func RoomOfAllNodes(nodes []*corev1.Node, pods []*corev1.Pod) []Room {
	held := map[string]*Amounts{}
	for _, pod := range pods {
		if held[pod.Spec.NodeName] == nil {
			held[pod.Spec.NodeName] = &Amounts{}
		}
		held[pod.Spec.NodeName].Add(RequestedByPod(pod), 1)
	}
	rooms := make([]Room, 0, len(nodes))
	for _, node := range nodes {
		rooms = append(rooms, RoomOfNode(node, held[node.Name]))
	}
	slices.SortFunc(rooms, func(a, b Room) int { return cmp.Compare(a.Name, b.Name) })
	return rooms
}

// RoomOfNode returns the resources of a node whose pods request held; if held is nil, the pods request nothing.
func RoomOfNode(node *corev1.Node, held *Amounts) Room {
	r := Room{Name: node.Name, Status: StatusText(node), Has: AmountsFromList(node.Status.Allocatable), Usable: IsReady(node) && !node.Spec.Unschedulable}
	r.Idle = RemainingAmounts(r.Has, held)
	return r
}

// RemainingAmounts returns has minus held. Devices that are not in has do not count.
func RemainingAmounts(has Amounts, held *Amounts) Amounts {
	var left Amounts
	left.Add(has, 1)
	if held == nil {
		return left
	}
	counted := Amounts{MilliCPU: held.MilliCPU, MemoryBytes: held.MemoryBytes, Devices: map[corev1.ResourceName]int64{}}
	for name, amount := range held.Devices {
		if _, there := has.Devices[name]; there {
			counted.Devices[name] = amount
		}
	}
	left.Add(counted, -1)
	return left
}

// IsReady reports whether a node's Ready condition is true.
func IsReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// StatusText returns a node's state in kubectl's wording.
func StatusText(node *corev1.Node) string {
	status := "NotReady"
	if IsReady(node) {
		status = "Ready"
	}
	if node.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

// InternalAddress returns the node's internal IP address, or "".
func InternalAddress(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return ""
}
