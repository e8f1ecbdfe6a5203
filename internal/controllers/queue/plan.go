package queue

import (
	"fmt"

	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// counts holds the number of PodGroups by phase.
type counts struct{ pending, inqueue, running, unknown, completed int32 }

func (c counts) totalGroups() int32 {
	return c.pending + c.inqueue + c.running + c.unknown + c.completed
}

func countGroups(groups []scheduling.PodGroup) counts {
	var c counts
	for i := range groups {
		switch groups[i].Status.Phase {
		case scheduling.PodGroupInqueue:
			c.inqueue++
		case scheduling.PodGroupRunning:
			c.running++
		case scheduling.PodGroupUnknown:
			c.unknown++
		case scheduling.PodGroupCompleted:
			c.completed++
		default:
			c.pending++
		}
	}
	return c
}

// plan holds the changes to one queue.
type plan struct {
	parent string // the parent to set; "" means no change
	// closedByParent is the annotation to set; "" means no change.
	closedByParent string
	state          scheduling.QueueState
	counts         counts
	// refusal is the reason why the command was not carried out.
	refusal string
}

// computePlan returns the plan for a queue. parent is nil if the queue is root or if the parent does not exist. c
// counts the PodGroups in the queue. asked is the action of a command; "" if none exists.
func computePlan(q, parent *scheduling.Queue, c counts, asked bus.Action) plan {
	p := plan{counts: c}
	if q.Name != keys.RootQueue && q.Spec.Parent == "" {
		p.parent = keys.RootQueue
	}
	closing := scheduling.QueueStateClosing
	if c.totalGroups() == 0 {
		closing = scheduling.QueueStateClosed
	}
	p.state = settleState(q.Status.State, closing)
	if p.refusal = refusalReason(q, parent, asked); p.refusal != "" {
		asked = ""
	}
	switch asked {
	case bus.OpenQueueAction:
		p.state, p.closedByParent = scheduling.QueueStateOpen, resetClosedByParent(q)
	case bus.CloseQueueAction:
		p.closeOnItsOwn(q, closing)
	default:
		p.followParent(q, parent, closing)
	}
	return p
}

// refusalReason returns the reason why a queue does not carry out a command; "" if it does.
func refusalReason(q, parent *scheduling.Queue, asked bus.Action) string {
	wish := q.Wish()
	switch {
	case asked == bus.CloseQueueAction && q.Name == keys.RootQueue:
		return "queue root cannot be closed"
	case asked == bus.OpenQueueAction && wish == scheduling.QueueStateClosed, asked == bus.CloseQueueAction && wish == scheduling.QueueStateOpen:
		return fmt.Sprintf("the annotation %[2]s of queue %[1]s requires the state %[3]s; change the annotation", q.Name, keys.QueueState, wish)
	case asked == bus.OpenQueueAction && mustStayClosed(parent):
		return fmt.Sprintf("queue %s cannot be opened: its parent %s is %s; open the parent first", q.Name, parent.Name, parent.Status.State)
	}
	return ""
}

// closeOnItsOwn closes a queue on its own, so that it stays closed when its parent opens.
func (p *plan) closeOnItsOwn(q *scheduling.Queue, closing scheduling.QueueState) {
	p.state, p.closedByParent = closing, resetClosedByParent(q)
	if q.Status.State == scheduling.QueueStateClosed {
		p.state = scheduling.QueueStateClosed
	}
}

// settleState returns the state of a queue if there is no command. closing is Closed if the queue is empty, otherwise
// Closing.
func settleState(state, closing scheduling.QueueState) scheduling.QueueState {
	switch state {
	case "", scheduling.QueueStateOpen:
		return scheduling.QueueStateOpen
	case scheduling.QueueStateClosing:
		return closing
	case scheduling.QueueStateClosed:
		return scheduling.QueueStateClosed
	}
	return scheduling.QueueStateUnknown
}

// followParent closes and opens a queue as its annotation or, without one, its parent requires.
func (p *plan) followParent(q, parent *scheduling.Queue, closing scheduling.QueueState) {
	byParent := q.Annotations[keys.ClosedByParent] == "true"
	opened := parent != nil && !isClosedOrClosing(parent) && parent.Status.State != scheduling.QueueStateUnknown
	switch {
	case q.Wish() == scheduling.QueueStateClosed:
		if !isClosedOrClosing(q) || byParent {
			p.closeOnItsOwn(q, closing)
		}
	case mustStayClosed(parent) && !isClosedOrClosing(q):
		p.state, p.closedByParent = closing, "true"
	case q.Wish() == scheduling.QueueStateOpen && p.state != scheduling.QueueStateOpen && !mustStayClosed(parent):
		p.state, p.closedByParent = scheduling.QueueStateOpen, resetClosedByParent(q)
	case opened && isClosedOrClosing(q) && byParent:
		p.state, p.closedByParent = scheduling.QueueStateOpen, "false"
	case opened && byParent && p.state == scheduling.QueueStateOpen:
		p.closedByParent = "false" // the queue was opened, but a crash left the annotation
	}
}

// mustStayClosed reports whether the children of this queue must be closed. The children of root never have to be.
func mustStayClosed(parent *scheduling.Queue) bool {
	return parent != nil && parent.Name != keys.RootQueue && isClosedOrClosing(parent)
}

func isClosedOrClosing(q *scheduling.Queue) bool {
	return q.Status.State == scheduling.QueueStateClosed || q.Status.State == scheduling.QueueStateClosing
}

// resetClosedByParent returns the value that resets the closed-by-parent annotation; "" if it is not set.
func resetClosedByParent(q *scheduling.Queue) string {
	if q.Annotations[keys.ClosedByParent] == "true" {
		return "false"
	}
	return ""
}
