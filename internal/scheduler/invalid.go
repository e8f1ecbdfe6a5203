package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// invalidCondition returns the condition that describes the error in a queue's spec, or nil if the queue is valid. It
// returns the published condition as long as that condition is still correct.
func invalidCondition(q *queue.Queue, now time.Time) *metav1.Condition {
	code, text := q.Problem()
	if code == "" {
		return nil
	}
	old, since := q.Published.Invalid, metav1.NewTime(now.Truncate(time.Second))
	message := reason.Get(code).Sentence + ": " + text
	if old != nil {
		if old.Reason == string(code) && old.Message == message {
			return old
		}
		since = old.LastTransitionTime // it has been invalid since then
	}
	return &metav1.Condition{
		Type: schedulingv1beta1.QueueValid, Status: metav1.ConditionFalse, Reason: string(code), Message: message, LastTransitionTime: since,
	}
}

// reportInvalidQueue records an event for a queue if the error in its spec is new, has changed or was fixed.
func reportInvalidQueue(s *cycle.Cycle, q *queue.Queue, now *metav1.Condition) {
	old := q.Published.Invalid
	event := decision.Event{Queue: decision.Object{Name: q.Name, UID: q.UID}, Type: corev1.EventTypeWarning}
	switch {
	case now == old:
		return
	case now == nil:
		event.Type, event.Reason, event.Message = corev1.EventTypeNormal, "QueueValid", "the queue's settings are valid again"
	default:
		event.Reason, event.Message = now.Reason, now.Message+"; "+reason.Get(reason.Code(now.Reason)).Hint
	}
	s.Out.Events = append(s.Out.Events, event)
}
