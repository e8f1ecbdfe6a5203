package simnode

import (
	"container/heap"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// DuePod is a pod whose next step is due. It belongs to the caller of TakeDuePod until FinishStep.
type DuePod struct {
	entry *entry
	step  step
	after record // the record after the step
}

// Write is the request to the API server that carries out the step of a pod. It applies only to the pod with this UID.
type Write struct {
	Pod types.NamespacedName
	UID types.UID
	// StatusPatch is a strategic merge patch for the status of the pod. If it is nil, the pod is to be deleted without
	// grace period.
	StatusPatch []byte
}

// outcome is the result of a step.
type outcome uint8

const (
	written   outcome = iota
	failed            // retry
	gone              // the pod no longer exists
	unchanged         // no step was due
)

// Wake returns a channel that receives a value when the time of the next step may have changed.
func (t *PodTable) Wake() <-chan struct{} { return t.wake }

// TakeDuePod returns the next pod that is due. If no pod is due, it returns the time until the next one; the time is
// negative if no pod has a next step.
func (t *PodTable) TakeDuePod() (*DuePod, time.Duration) {
	e, wait := t.takeDueEntry()
	if e == nil {
		return nil, wait
	}
	return &DuePod{entry: e}, 0
}

// BeginStep determines the write for a pod. isDue is false if the pod has changed since TakeDuePod and no step is due.
func (t *PodTable) BeginStep(pod *DuePod) (write Write, isDue bool, err error) {
	var hostIP string
	pod.step, pod.after, hostIP = t.beginDueStep(pod.entry)
	if pod.step == stepNone {
		return Write{}, false, nil
	}
	write = Write{Pod: pod.after.name, UID: pod.after.uid}
	if pod.step != stepRemove {
		write.StatusPatch, err = pod.after.statusPatch(hostIP)
	}
	return write, true, err
}

// FinishStep returns a pod to the table after BeginStep. err is the result of the write. It reports whether the write is
// going to be repeated.
func (t *PodTable) FinishStep(pod *DuePod, err error) (repeats bool) {
	result := outcomeOfWrite(pod.step, err)
	t.finishStep(pod.entry, pod.after, result)
	return result == failed
}

// outcomeOfWrite interprets the API server's response. A conflict is repeated: either the pod has another UID, and the
// watch is going to remove its record, or the API server gave up because the pod changed too often during the patch.
func outcomeOfWrite(what step, err error) outcome {
	switch {
	case what == stepNone:
		return unchanged
	case err == nil && what == stepRemove, apierrors.IsNotFound(err):
		return gone
	case err == nil:
		return written
	default:
		return failed
	}
}

// takeDueEntry returns the next entry that is due and marks it as busy. If no entry is due, it returns the time until
// the next one; the time is negative if the heap is empty.
func (t *PodTable) takeDueEntry() (*entry, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.due) == 0 {
		return nil, -1
	}
	head := t.due[0]
	if wait := head.at.Sub(t.now()); wait > 0 {
		return nil, wait
	}
	heap.Pop(&t.due)
	head.busy = true
	return head, 0
}

// beginDueStep determines the step for a busy entry. It returns the record after the step and the address of the
// entry's node.
func (t *PodTable) beginDueStep(e *entry) (what step, after record, hostIP string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	what, at := e.nextStepAndTime()
	if what == stepNone || at.After(now) { // the entry was changed while it waited for a writer
		return stepNone, record{}, ""
	}
	after = e.record.recordAfterStep(what, now)
	if after.podIP == "" && after.stage == running {
		after.podIP = t.nextAddress()
		// If the write is repeated, it must contain the same address, because the first write may have succeeded, and a
		// pod has only one address.
		e.record.podIP = after.podIP
	}
	return what, after, t.served[e.node]
}

// finishStep returns a busy entry to the table. A deletion that was observed in the meantime is kept.
func (t *PodTable) finishStep(e *entry, after record, result outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.busy = false
	if t.pods[e.name] != e {
		return // the pod was deleted, or re-created with the same name
	}
	switch result {
	case gone:
		t.dropStoredPod(e.name)
		return
	case failed:
		e.tries++
	case written:
		after.deletedAt, after.killAt = e.deletedAt, e.killAt
		if e.stage != ended || after.stage == ended {
			e.record = after
		}
		e.tries = 0
	}
	t.scheduleEntry(e)
}
