package node

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/vc-batch/vc/internal/cli"
)

// amounts are milli-cpu, bytes of memory, and units of devices by their names.
type amounts struct {
	milliCPU, memoryBytes int64
	devices               map[corev1.ResourceName]int64
}

func (a *amounts) add(b amounts, sign int64) {
	a.milliCPU += sign * b.milliCPU
	a.memoryBytes += sign * b.memoryBytes
	for name, amount := range b.devices {
		if a.devices == nil {
			a.devices = map[corev1.ResourceName]int64{}
		}
		a.devices[name] += sign * amount
	}
}

// isDevice says whether a resource is one that somebody added to a node: a GPU, a network card.
func isDevice(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func amountsOf(list corev1.ResourceList) amounts {
	a := amounts{milliCPU: list.Cpu().MilliValue(), memoryBytes: list.Memory().Value(), devices: map[corev1.ResourceName]int64{}}
	for name, amount := range list {
		if isDevice(name) {
			a.devices[name] = amount.Value()
		}
	}
	return a
}

// asked is what a pod holds on its node; nothing when it has ended.
func asked(pod *corev1.Pod) amounts {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return amounts{}
	}
	return amountsOf(resource.PodRequests(pod, resource.PodResourcesOptions{}))
}

// Room is what a node has and what of it nobody has asked for.
type Room struct {
	name, status string
	has, idle    amounts
	// usable says that pods may be put there: it is ready and not cordoned.
	usable bool
	// unknown says that the pods of the node may not be read, so that nobody knows what is idle.
	unknown bool
}

// Rooms computes the room of every node, in the order of their names. Pods that are on none of them do not count.
func Rooms(nodes []*corev1.Node, pods []*corev1.Pod) []Room {
	held := map[string]*amounts{}
	for _, pod := range pods {
		if held[pod.Spec.NodeName] == nil {
			held[pod.Spec.NodeName] = &amounts{}
		}
		held[pod.Spec.NodeName].add(asked(pod), 1)
	}
	rooms := make([]Room, 0, len(nodes))
	for _, node := range nodes {
		rooms = append(rooms, roomOf(node, held[node.Name]))
	}
	slices.SortFunc(rooms, func(a, b Room) int { return cmp.Compare(a.name, b.name) })
	return rooms
}

func roomOf(node *corev1.Node, held *amounts) Room {
	r := Room{name: node.Name, status: statusOf(node), has: amountsOf(node.Status.Allocatable), usable: isReady(node) && !node.Spec.Unschedulable}
	r.idle.add(r.has, 1)
	if held != nil {
		for name := range held.devices {
			if _, has := r.has.devices[name]; !has {
				delete(held.devices, name)
			}
		}
		r.idle.add(*held, -1)
	}
	return r
}

// deviceNames are the devices that any node has, sorted.
func deviceNames(rooms []Room) []corev1.ResourceName {
	names := map[corev1.ResourceName]bool{}
	for i := range rooms {
		for name := range rooms[i].has.devices {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// devicesText is idle/allocatable of each device: "gpu 3/8".
func devicesText(idle, has amounts, unknown bool) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(has.devices)) {
		if unknown {
			parts = append(parts, fmt.Sprintf("%s %d", cli.ShortResource(name), has.devices[name]))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d/%d", cli.ShortResource(name), idle.devices[name], has.devices[name]))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func milliText(milli int64) string { return strconv.FormatInt(milli, 10) + "m" }

func kibText(bytes int64) string { return strconv.FormatInt(bytes/1024, 10) + "Ki" }
