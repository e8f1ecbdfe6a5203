package model

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Task is a pod.
type Task struct {
	UID       types.UID
	Namespace string
	Name      string
	Created   time.Time
	Labels    map[string]string
	Ours      bool
	Role      string
	Index     int
	Priority  int32
	// PriorityClass is the name of the pod's priority class; "" if unset.
	PriorityClass string
	// NamedQueue is the queue that a plain pod requests for its PodGroup; "" if unset.
	NamedQueue string
	Gated      bool
	// Gates holds the names of the scheduling gates.
	Gates []string
	// QueueGated is true if the queue gate is the pod's only scheduling gate; see AtQueueGate.
	QueueGated bool

	Preemptable bool
	Critical    bool
	Never       bool

	Shape  *Shape
	Gang   *Gang // nil if the task is in no gang
	Node   NodeID
	Status Status
	// Annotations holds the annotations that policies may read. It must not be changed.
	Annotations map[string]string
	// Started is the time when the kubelet started the pod; zero if it has not started yet.
	Started time.Time
	// Expected is the known or expected run time; see RunTime. longestLimit is the longest time limit that the pod has had
	// since it was started; 0 if it has not changed.
	Expected     RunTime
	longestLimit time.Duration
	// Nominated is the node in the pod's status on which resources are being freed for the pod; "" if none exists.
	Nominated string
	// Ready is the pod's Ready condition. BoundAt is when the pod was bound; zero if unknown.
	Ready   bool
	BoundAt time.Time
	// Killed is true if the pod ended because it was stopped. Such a pod will soon be deleted.
	Killed bool
	// LeavesBy is the deadline of a pod that is being deleted; zero if it is not being deleted or the deadline is
	// unknown.
	LeavesBy time.Time
	// lingers is the value of LeavesBy at which the task was found to linger; zero if it is not lingering.
	lingers time.Time
	// Condition is the condition PodScheduled=False as it was last read or decided.
	Condition PodCondition

	// The following fields hold decisions that the API has not confirmed yet.
	assumedNode    NodeID
	assumedEvicted bool
	assumedNotes   map[string]string // annotations that are written with the binding
	ungating       bool              // the removal of its queue gate was decided
	seen           seenTask

	nodePos int
	gangPos int
}

// seenTask is the state of the task in the latest API object. It becomes effective again when an assumption is
// reverted.
type seenTask struct {
	node   NodeID
	status Status
	notes  map[string]string
}

// IsAssumed reports whether the task's binding was decided but has not been confirmed yet.
func (t *Task) IsAssumed() bool { return t.assumedNode != NoNode }

// IsProtected reports whether the task must not be evicted, because the task or its PodGroup forbids preemption.
func (t *Task) IsProtected() bool { return !t.Preemptable || (t.Gang != nil && t.Gang.IsProtected()) }

// Key returns namespace/name.
func (t *Task) Key() string { return t.Namespace + "/" + t.Name }

// copyAttributes copies the pod's attributes from the delta.
func (t *Task) copyAttributes(d *TaskSet) {
	t.Created, t.Labels, t.Ours, t.Role, t.Index, t.Priority, t.Gated, t.Gates = d.Created, d.Labels, d.Ours, d.Role, d.Index, d.Priority, d.Gated, d.Gates
	if t.QueueGated = d.QueueGated; !d.Gated {
		t.ungating = false
	}
	t.Preemptable, t.Critical, t.Never, t.PriorityClass = d.Preemptable, d.Critical, d.Never, d.PriorityClass
	t.NamedQueue = d.NamedQueue
	if !t.Started.IsZero() {
		t.longestLimit = t.ChargedLimit()
	}
	t.Annotations, t.Started, t.Condition = d.Annotations, d.Started, d.Condition
	t.Ready, t.BoundAt, t.Killed, t.LeavesBy, t.Expected = d.Ready, d.BoundAt, d.Killed, d.LeavesBy, d.Expected
}

// mergeAssumptions merges the state read from the API with the assumptions.
func (t *Task) mergeAssumptions() (NodeID, Status) {
	node, status := t.seen.node, t.seen.status
	if node != NoNode || status.HasEnded() {
		t.assumedNode = NoNode // confirmed, or no longer relevant
	} else if t.assumedNode != NoNode {
		node, status = t.assumedNode, Binding
		if t.seen.status == Releasing {
			status = Releasing
		}
	} else if t.Status == Pipelined && status == Pending && t.Node != NoNode {
		node, status = t.Node, Pipelined
	}
	if status == Releasing || status.HasEnded() {
		t.assumedEvicted = false
	}
	if t.assumedEvicted && node != NoNode {
		status = Releasing
	}
	if status == Releasing && !t.lingers.IsZero() && t.lingers.Equal(t.LeavesBy) {
		status = Lingering
	}
	return node, status
}

// isWithoutGang reports whether the task has no gang and will stay on its node.
func (t *Task) isWithoutGang() bool {
	return t.Gang == nil && t.Status.CountsOnNode() && !t.Status.IsLeaving()
}

// mergeAnnotations sets the task's annotations to the annotations that were last read. While a binding is assumed, it
// adds the annotations that are written with the binding.
func (t *Task) mergeAnnotations() {
	t.Annotations = t.seen.notes
	if t.assumedNode == NoNode {
		t.assumedNotes = nil
		return
	}
	if len(t.assumedNotes) == 0 {
		return
	}
	all := make(map[string]string, len(t.seen.notes)+len(t.assumedNotes))
	for k, v := range t.seen.notes {
		all[k] = v
	}
	for k, v := range t.assumedNotes {
		all[k] = v
	}
	t.Annotations = all
}

// RunTime returns the run time of the task. The task's own estimate takes precedence over its gang's.
func (t *Task) RunTime() RunTime {
	r := t.Expected
	if r.Estimate == 0 && t.Gang != nil {
		r.Estimate = t.Gang.Estimate
	}
	return r
}

// ChargedLimit returns the longest time for which a budget charges the pod; 0 if there is no limit. A limit that is shortened
// while the pod runs does not count, because the pod may have run longer already.
func (t *Task) ChargedLimit() time.Duration {
	if t.Expected.Limit <= 0 {
		return 0
	}
	return max(t.Expected.Limit, t.longestLimit)
}

// LatestEndTime returns the latest time at which a task on a node ends, according to the information available now.
// It returns false if the task may run forever. If the kubelet has not started the task yet, its run time starts now.
// If the limit has passed, the task ends now. If the estimate has passed, it was wrong and is doubled until the end
// lies in the future (the correction of Tsafrir, Etsion and Feitelson, "Backfilling Using System-Generated
// Predictions", 2007).
func (t *Task) LatestEndTime(now time.Time) (time.Time, bool) {
	r := t.RunTime()
	length, known := r.AssumedLength()
	if !known {
		return time.Time{}, false
	}
	start := t.Started
	if start.IsZero() || start.After(now) {
		start = now
	}
	end := start.Add(length)
	if end.After(now) {
		return end, true
	}
	if r.Limit > 0 {
		return now, true
	}
	for !end.After(now) {
		length *= 2
		end = start.Add(length)
	}
	return end, true
}
