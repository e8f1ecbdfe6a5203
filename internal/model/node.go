package model

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
)

// NodeID is the index of a row in Nodes. The rows of removed nodes are reused.
type NodeID int32

// NoNode is the NodeID of a task without a node.
const NoNode NodeID = -1

// Nodes is a structure of arrays with one row per node and Stride values per row. A row may exist before its node, if
// a pod refers to the node first, and it remains after the node is deleted until its last task is gone. Alive is true
// while the node exists.
type Nodes struct {
	Stride int
	// Alloc is the node's allocatable capacity. Used is the sum of its tasks' requests, including tasks that are
	// being released. Releasing is the part of Used that will soon be free. Pipelined is the amount promised to tasks
	// that are waiting for resources to be released. Foreign is the part of Used that belongs to pods that have no
	// gang and are not being deleted.
	Alloc, Used, Releasing, Pipelined, Foreign []int64

	Name    []string
	Alive   []bool
	Info    []*NodeInfo
	Tasks   [][]*Task // tasks on the node, including pipelined ones; in no particular order
	Changed []uint64  // generation of the last change to amounts, ports or tasks
	Labeled []uint64  // generation of the last change to labels, taints, images, CPU topology, actual load or existence
	// PortsChanged holds the generations of the last changes to tasks with host ports.
	PortsChanged []uint64
	// Usage holds the most recent measurement of the actual load.
	Usage []NodeUsage

	// ImageNodes maps the name of an image to the number of live nodes that have it.
	ImageNodes map[string]int32

	byName map[string]NodeID
	free   []NodeID
}

// NodeInfo is the part of a node that does not depend on its tasks. It is replaced, never changed.
type NodeInfo struct {
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	Images        map[string]int64
	Annotations   map[string]string // annotations that policies may read
	Devices       []resource.Amount // capacity of shared devices, including unhealthy ones
	Node          *corev1.Node      // has only a name and labels, for the affinity matchers
}

// Len returns the number of rows, including dead ones.
func (n *Nodes) Len() int { return len(n.Name) }

// Row returns the values of a node in one of the arrays.
func (n *Nodes) Row(values []int64, id NodeID) []int64 {
	return values[int(id)*n.Stride : (int(id)+1)*n.Stride]
}

// Find returns the row of the node with the given name.
func (n *Nodes) Find(name string) (NodeID, bool) {
	id, ok := n.byName[name]
	return id, ok
}

// valueArrays returns pointers to all value arrays.
func (n *Nodes) valueArrays() [5]*[]int64 {
	return [...]*[]int64{&n.Alloc, &n.Used, &n.Releasing, &n.Pipelined, &n.Foreign}
}

// widenNodeRows increases the number of values per row.
func (n *Nodes) widenNodeRows(stride int) {
	if stride <= n.Stride {
		return
	}
	for _, array := range n.valueArrays() {
		wide := make([]int64, n.Len()*stride)
		for i := range n.Name {
			copy(wide[i*stride:], (*array)[i*n.Stride:(i+1)*n.Stride])
		}
		*array = wide
	}
	n.Stride = stride
}

func (i *NodeInfo) isSameAs(old *NodeInfo) bool {
	if old == nil || i.Unschedulable != old.Unschedulable {
		return false
	}
	if !maps.Equal(i.Labels, old.Labels) || !maps.Equal(i.Annotations, old.Annotations) {
		return false
	}
	if !slices.Equal(i.Devices, old.Devices) || !maps.Equal(i.Images, old.Images) {
		return false
	}
	return slices.EqualFunc(i.Taints, old.Taints, func(a, b corev1.Taint) bool {
		return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
	})
}

// AppendSortedLive returns the live rows sorted by node name, reusing buffer.
func (n *Nodes) AppendSortedLive(buffer []NodeID) []NodeID {
	order := buffer[:0]
	for i, alive := range n.Alive {
		if alive {
			order = append(order, NodeID(i))
		}
	}
	slices.SortFunc(order, func(a, b NodeID) int { return strings.Compare(n.Name[a], n.Name[b]) })
	return order
}

// VisitPorts calls visit for the host ports of a node's tasks, both bound and promised ones, until visit returns false.
func (n *Nodes) VisitPorts(id NodeID, visit func(t *Task, p podshape.Port) bool) {
	for _, t := range n.Tasks[id] {
		for _, p := range t.Shape.Ports {
			if !visit(t, p) {
				return
			}
		}
	}
}

// toAPINode returns a Node with the fields that the affinity matchers read.
func toAPINode(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// countImages adds the number by to the node count of each image.
func (n *Nodes) countImages(images map[string]int64, by int32) {
	if n.ImageNodes == nil {
		n.ImageNodes = map[string]int32{}
	}
	for name := range images {
		if n.ImageNodes[name] += by; n.ImageNodes[name] == 0 {
			delete(n.ImageNodes, name)
		}
	}
}

// NodeUsage is the actual load of a node, averaged over some minutes. A zero At means that the load is unknown.
type NodeUsage struct {
	CPUPercent, MemoryPercent float64
	At                        time.Time
}
