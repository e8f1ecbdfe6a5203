package room

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Room is what a node has and what of it nobody has asked for.
type Room struct {
	// Name of the node, and Status as kubectl says it.
	Name, Status string
	// Has is what pods may ask for; Idle what of it nobody has asked for. Idle may be negative.
	Has, Idle Amounts
	// Usable says that pods may be put there: it is ready and not cordoned.
	Usable bool
	// Unknown says that the pods of the node may not be read, so that nobody knows what is idle.
	Unknown bool
}

// All computes the room of every node, in the order of their names. Pods that are on none of them do not count.
func All(nodes []*corev1.Node, pods []*corev1.Pod) []Room {
	held := map[string]*Amounts{}
	for _, pod := range pods {
		if held[pod.Spec.NodeName] == nil {
			held[pod.Spec.NodeName] = &Amounts{}
		}
		held[pod.Spec.NodeName].Add(Asked(pod), 1)
	}
	rooms := make([]Room, 0, len(nodes))
	for _, node := range nodes {
		rooms = append(rooms, Of(node, held[node.Name]))
	}
	slices.SortFunc(rooms, func(a, b Room) int { return cmp.Compare(a.Name, b.Name) })
	return rooms
}

// Of is the room of a node on which pods hold so much; nil: nothing.
func Of(node *corev1.Node, held *Amounts) Room {
	r := Room{Name: node.Name, Status: Status(node), Has: From(node.Status.Allocatable), Usable: IsReady(node) && !node.Spec.Unschedulable}
	r.Idle = Left(r.Has, held)
	return r
}

// Left is what of has nobody holds. Devices that there are none of do not count.
func Left(has Amounts, held *Amounts) Amounts {
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

// Devices are those that any node has, sorted.
func Devices(rooms []Room) []corev1.ResourceName {
	names := map[corev1.ResourceName]bool{}
	for i := range rooms {
		for name := range rooms[i].Has.Devices {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// IsReady says whether a node's kubelet says that it works.
func IsReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Status is a node's state in kubectl's words.
func Status(node *corev1.Node) string {
	status := "NotReady"
	if IsReady(node) {
		status = "Ready"
	}
	if node.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

// Address is where a node is reached inside the cluster; "" when it says nothing of that.
func Address(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return ""
}
