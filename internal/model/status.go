package model

// Status is the state of a task in the scheduler.
type Status uint8

// The statuses of a task. A Pipelined task is placed on resources that are being released, but is not bound yet. A
// Binding task was bound by this scheduler, but the API has not confirmed this yet. A Lingering task was deleted and
// is past its deadline, but still exists.
const (
	Pending Status = iota
	Pipelined
	Binding
	Bound
	Running
	Releasing
	Succeeded
	Failed
	Unknown
	Lingering
	statuses
)

var statusNames = [statuses]string{"Pending", "Pipelined", "Binding", "Bound", "Running", "Releasing", "Succeeded", "Failed", "Unknown", "Lingering"}

func (s Status) String() string { return statusNames[s] }

// IsAllocated reports whether the task uses resources on a node and is not being evicted or deleted.
func (s Status) IsAllocated() bool { return s == Binding || s == Bound || s == Running }

// CountsOnNode reports whether the task's request counts as used on its node.
func (s Status) CountsOnNode() bool { return s.IsAllocated() || s.IsLeaving() || s == Unknown }

// IsLeaving reports whether the task is being deleted, even if it is past its deadline.
func (s Status) IsLeaving() bool { return s == Releasing || s == Lingering }

// HasEnded reports whether the task has succeeded or failed.
func (s Status) HasEnded() bool { return s == Succeeded || s == Failed }
