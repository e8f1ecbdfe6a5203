package accounting

import (
	"cmp"
	"slices"
	"time"
)

// NodeState describes whether jobs could use a node.
type NodeState string

// The states of nodes.
const (
	NodeUp      NodeState = "Up"
	NodeDown    NodeState = "Down"    // the node is not ready, or its kubelet does not answer
	NodeDrained NodeState = "Drained" // the node is cordoned: no more pods start on it
	NodeGone    NodeState = "Gone"    // the node was removed from the cluster
)

// NodeChange describes the state and the capacity of a node from a time on, until the next change of the node.
type NodeChange struct {
	// Cluster, Node and Time identify the change. Time is a full second.
	Cluster, Node string
	Time          time.Time
	State         NodeState
	// Reason is the reason of the state, for example NodeStatusUnknown. It may be empty.
	Reason string
	// Capacity is the allocatable amounts. It is empty if the node is gone.
	Capacity Resources
}

// CompareNodeChanges orders changes by cluster, node and time.
func CompareNodeChanges(a, b NodeChange) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Node, b.Node), a.Time.Compare(b.Time))
}

// Batch holds records and changes that are stored together.
type Batch struct {
	Records     []Record     `json:",omitempty"`
	NodeChanges []NodeChange `json:",omitempty"`
	// Changes lists changes of accounts.
	Changes []Change `json:",omitempty"`
}

// IsEmpty reports whether the batch contains nothing.
func (b *Batch) IsEmpty() bool {
	return len(b.Records) == 0 && len(b.NodeChanges) == 0 && len(b.Changes) == 0
}

// CapacityQuery selects the capacity of nodes over time. An empty list selects all values.
type CapacityQuery struct {
	Clusters, Resources []string
	// From and To limit the time.
	From, To time.Time
}

// Capacity is the capacity of the nodes of a cluster in a state, over time.
type Capacity struct {
	Cluster, Resource string
	State             NodeState
	// Seconds is the integral of the capacity over time: the unit of the resource times seconds.
	Seconds int64
}

// SumCapacity returns the capacity that follows from changes, ordered by cluster, resource and state. The changes are
// ordered by CompareNodeChanges. The capacity of a node before its first change is unknown and not included.
func SumCapacity(changes []NodeChange, query CapacityQuery) []Capacity {
	seconds := map[Capacity]int64{}
	for i := range changes {
		change := &changes[i]
		until := query.To
		isLast := i+1 == len(changes) || changes[i+1].Cluster != change.Cluster || changes[i+1].Node != change.Node
		if !isLast && changes[i+1].Time.Before(until) {
			until = changes[i+1].Time
		}
		from := change.Time
		if from.Before(query.From) {
			from = query.From
		}
		if change.State == NodeGone || !from.Before(until) {
			continue
		}
		for resource, amount := range change.Capacity {
			if len(query.Resources) == 0 || slices.Contains(query.Resources, resource) {
				key := Capacity{Cluster: change.Cluster, Resource: resource, State: change.State}
				seconds[key] += amount * (until.Unix() - from.Unix())
			}
		}
	}
	sums := make([]Capacity, 0, len(seconds))
	for sum, total := range seconds {
		sum.Seconds = total
		sums = append(sums, sum)
	}
	slices.SortFunc(sums, func(a, b Capacity) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.State, b.State))
	})
	return sums
}
