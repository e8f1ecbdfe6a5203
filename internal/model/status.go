package model

// Status of a task, as the scheduler sees it.
type Status uint8

// The statuses. Pipelined means: placed on room that is being released, not
// bound yet. Binding means: bound by us, not yet confirmed by the API. Lingering
// means: deleted, should have ended, and has not.
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

// Allocated says whether the task holds room of a node that nobody is taking
// from it.
func (s Status) Allocated() bool { return s == Binding || s == Bound || s == Running }

// OnNode says whether the task's request is counted as used on its node.
func (s Status) OnNode() bool { return s.Allocated() || s.Leaving() || s == Unknown }

// Leaving says whether the task is being deleted, in time or not.
func (s Status) Leaving() bool { return s == Releasing || s == Lingering }

// Ended says whether the task has run to its end.
func (s Status) Ended() bool { return s == Succeeded || s == Failed }
