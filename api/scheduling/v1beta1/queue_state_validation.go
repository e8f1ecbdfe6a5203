package v1beta1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// Wish returns the state that the queue's annotation requests, or "" if the annotation is missing or invalid.
func (q *Queue) Wish() QueueState {
	switch wish := QueueState(q.Annotations[keys.QueueState]); {
	case wish == QueueStateOpen, wish == QueueStateClosed && q.Name != keys.RootQueue:
		return wish
	}
	return ""
}

// validateQueueWish checks the annotation that requests a state.
func validateQueueWish(q *Queue) field.ErrorList {
	wish, there := q.Annotations[keys.QueueState]
	if !there || q.Wish() != "" {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(keys.QueueState)
	if wish == string(QueueStateClosed) {
		return field.ErrorList{field.Invalid(path, wish, "queue root cannot be closed")}
	}
	return field.ErrorList{field.NotSupported(path, wish, []QueueState{QueueStateOpen, QueueStateClosed})}
}
