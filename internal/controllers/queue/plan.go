package queue

import (
	"fmt"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// counts holds the number of PodGroups by phase.
type counts struct{ pending, inqueue, running, unknown, completed int32 }

func (c counts) totalGroups() int32 {
	return c.pending + c.inqueue + c.running + c.unknown + c.completed
}

func countGroups(groups []schedulingv1beta1.PodGroup) counts {
	var c counts
	for i := range groups {
		switch groups[i].Status.Phase {
		case schedulingv1beta1.PodGroupInqueue:
			c.inqueue++
		case schedulingv1beta1.PodGroupRunning:
			c.running++
		case schedulingv1beta1.PodGroupUnknown:
			c.unknown++
		case schedulingv1beta1.PodGroupCompleted:
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
	state          schedulingv1beta1.QueueState
	counts         counts
	// refusal is the reason why the command was not carried out.
	refusal string
}

// computePlan returns the plan for a queue. parent is nil if the queue is root or if the parent does not exist. c
// counts the PodGroups in the queue. asked is the action of a command; "" if none exists.
func computePlan(q, parent *schedulingv1beta1.Queue, c counts, asked busv1alpha1.Action) plan {
	p := plan{counts: c}
	if q.Name != keys.RootQueue && q.Spec.Parent == "" {
		p.parent = keys.RootQueue
	}
	closing := schedulingv1beta1.QueueStateClosing
	if c.totalGroups() == 0 {
		closing = schedulingv1beta1.QueueStateClosed
	}
	p.state = settleState(q.Status.State, closing)
	if p.refusal = refusalReason(q, parent, asked); p.refusal != "" {
		asked = ""
	}
	switch asked {
	case busv1alpha1.OpenQueueAction:
		p.state, p.closedByParent = schedulingv1beta1.QueueStateOpen, resetClosedByParent(q)
	case busv1alpha1.CloseQueueAction:
		p.closeOnItsOwn(q, closing)
	default:
		p.followParent(q, parent, closing)
	}
	return p
}

// refusalReason returns the reason why a queue does not carry out a command, or "" if it does.
func refusalReason(q, parent *schedulingv1beta1.Queue, asked busv1alpha1.Action) string {
	wish := q.Wish()
	switch {
	case asked == busv1alpha1.CloseQueueAction && q.Name == keys.RootQueue:
		return "queue root cannot be closed"
	case asked == busv1alpha1.OpenQueueAction && wish == schedulingv1beta1.QueueStateClosed, asked == busv1alpha1.CloseQueueAction && wish == schedulingv1beta1.QueueStateOpen:
		return fmt.Sprintf("the annotation %[2]s of queue %[1]s requires the state %[3]s; change the annotation", q.Name, keys.QueueState, wish)
	case asked == busv1alpha1.OpenQueueAction && mustStayClosed(parent):
		return fmt.Sprintf("queue %s cannot be opened: its parent %s is %s; open the parent first", q.Name, parent.Name, parent.Status.State)
	}
	return ""
}

// closeOnItsOwn closes a queue on its own, so that it stays closed when its parent opens.
func (p *plan) closeOnItsOwn(q *schedulingv1beta1.Queue, closing schedulingv1beta1.QueueState) {
	p.state, p.closedByParent = closing, resetClosedByParent(q)
	if q.Status.State == schedulingv1beta1.QueueStateClosed {
		p.state = schedulingv1beta1.QueueStateClosed
	}
}

// settleState returns the state of a queue if there is no command. closing is Closed if the queue is empty, otherwise
// Closing.
func settleState(state, closing schedulingv1beta1.QueueState) schedulingv1beta1.QueueState {
	switch state {
	case "", schedulingv1beta1.QueueStateOpen:
		return schedulingv1beta1.QueueStateOpen
	case schedulingv1beta1.QueueStateClosing:
		return closing
	case schedulingv1beta1.QueueStateClosed:
		return schedulingv1beta1.QueueStateClosed
	}
	return schedulingv1beta1.QueueStateUnknown
}

// followParent opens or closes a queue as required by its annotation or, if it has none, by its parent.
func (p *plan) followParent(q, parent *schedulingv1beta1.Queue, closing schedulingv1beta1.QueueState) {
	byParent := q.Annotations[keys.ClosedByParent] == "true"
	opened := parent != nil && !isClosedOrClosing(parent) && parent.Status.State != schedulingv1beta1.QueueStateUnknown
	switch {
	case q.Wish() == schedulingv1beta1.QueueStateClosed:
		if !isClosedOrClosing(q) || byParent {
			p.closeOnItsOwn(q, closing)
		}
	case mustStayClosed(parent) && !isClosedOrClosing(q):
		p.state, p.closedByParent = closing, "true"
	case q.Wish() == schedulingv1beta1.QueueStateOpen && p.state != schedulingv1beta1.QueueStateOpen && !mustStayClosed(parent):
		p.state, p.closedByParent = schedulingv1beta1.QueueStateOpen, resetClosedByParent(q)
	case opened && isClosedOrClosing(q) && byParent:
		p.state, p.closedByParent = schedulingv1beta1.QueueStateOpen, "false"
	case opened && byParent && p.state == schedulingv1beta1.QueueStateOpen:
		p.closedByParent = "false" // the queue was opened, but a crash prevented the removal of the annotation
	}
}

// mustStayClosed reports whether the children of this queue must be closed. The children of root never have to be.
func mustStayClosed(parent *schedulingv1beta1.Queue) bool {
	return parent != nil && parent.Name != keys.RootQueue && isClosedOrClosing(parent)
}

func isClosedOrClosing(q *schedulingv1beta1.Queue) bool {
	return q.Status.State == schedulingv1beta1.QueueStateClosed || q.Status.State == schedulingv1beta1.QueueStateClosing
}

// resetClosedByParent returns the value that resets the closed-by-parent annotation, or "" if it is not set.
func resetClosedByParent(q *schedulingv1beta1.Queue) string {
	if q.Annotations[keys.ClosedByParent] == "true" {
		return "false"
	}
	return ""
}
