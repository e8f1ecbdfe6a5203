package extract

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
)

// cordonedReason is the reason of the state of a cordoned node without keys.DrainReason.
const cordonedReason = "Cordoned"

// NodeChanges returns how the nodes of a cluster differ from the last known change of each, in order. Each month begins
// with a change of each node, so that the earlier months can be removed. now must not be before the known changes.
func NodeChanges(cluster string, known map[string]accounting.NodeChange, nodes []corev1.Node, now time.Time) []accounting.NodeChange {
	now = wholeSecond(now)
	var changes []accounting.NodeChange
	current := map[string]bool{}
	for i := range nodes {
		node := &nodes[i]
		current[node.Name] = true
		change := describeNode(cluster, node)
		change.Time = now
		last, isKnown := known[node.Name]
		if !isKnown {
			changes = append(changes, change)
			continue
		}
		readinessChanged := (last.State == accounting.NodeDown) != (change.State == accounting.NodeDown)
		if since := readySince(node); readinessChanged && since.Before(now) {
			change.Time = since
		}
		change.Time = laterTime(change.Time, last.Time.Add(time.Second))
		changes = append(changes, changesAfter(last, change, accounting.Month.Start(now))...)
	}
	for name, last := range known {
		if !current[name] && last.State != accounting.NodeGone {
			time := laterTime(now, last.Time.Add(time.Second))
			changes = append(changes, accounting.NodeChange{Cluster: cluster, Node: name, Time: time, State: accounting.NodeGone})
		}
	}
	slices.SortFunc(changes, accounting.CompareNodeChanges)
	return changes
}

// changesAfter returns the changes of a node after its last recorded change, in order: current, if the node differs,
// and a change with which the month begins.
func changesAfter(last, current accounting.NodeChange, month time.Time) []accounting.NodeChange {
	var changes []accounting.NodeChange
	isDifferent := !isSameUse(last, current)
	if isDifferent && current.Time.Before(month) {
		changes, last, isDifferent = append(changes, current), current, false
	}
	beginsMonth := isDifferent && current.Time.Equal(month)
	needsStart := last.State != accounting.NodeGone && last.Time.Before(month)
	if needsStart && !beginsMonth {
		last.Time = month
		changes = append(changes, last)
	}
	if isDifferent {
		changes = append(changes, current)
	}
	return changes
}

// isSameUse reports whether two changes describe the same state and capacity.
func isSameUse(a, b accounting.NodeChange) bool {
	return a.State == b.State && a.Reason == b.Reason && maps.Equal(a.Capacity, b.Capacity)
}

// describeNode returns the state and the capacity of a node, without a time.
func describeNode(cluster string, node *corev1.Node) accounting.NodeChange {
	change := accounting.NodeChange{Cluster: cluster, Node: node.Name, State: accounting.NodeUp, Capacity: AmountsOf(node.Status.Allocatable)}
	maps.DeleteFunc(change.Capacity, func(_ string, amount int64) bool { return amount == 0 })
	change.Capacity[accounting.Nodes] = 1
	ready := readyCondition(node)
	switch {
	case ready.Status != corev1.ConditionTrue:
		change.State, change.Reason = accounting.NodeDown, ready.Reason
	case node.Spec.Unschedulable:
		change.State, change.Reason = accounting.NodeDrained, cmp.Or(node.Annotations[keys.DrainReason], cordonedReason)
	}
	return change
}

// readyCondition returns the condition Ready of a node, or an empty condition.
func readyCondition(node *corev1.Node) corev1.NodeCondition {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition
		}
	}
	return corev1.NodeCondition{}
}

// readySince returns when the condition Ready of a node changed last, or the zero time.
func readySince(node *corev1.Node) time.Time {
	return wholeSecond(readyCondition(node).LastTransitionTime.Time)
}

// laterTime returns the later of two times.
func laterTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
