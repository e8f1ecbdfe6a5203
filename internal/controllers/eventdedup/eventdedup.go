// Package eventdedup deduplicates events. It stores the last message for each object and reason, so that an event is
// recorded only if its message is new.
package eventdedup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Events stores the last message for each object and reason. The zero value is ready to use. Events is safe for
// concurrent use.
type Events struct {
	mu   sync.Mutex
	said map[types.NamespacedName]map[string]string
}

// New stores the message and reports whether it differs from the last message with the same reason.
func (e *Events) New(object types.NamespacedName, reason, message string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said == nil {
		e.said = map[types.NamespacedName]map[string]string{}
	}
	of := e.said[object]
	if of == nil {
		of = map[string]string{}
		e.said[object] = of
	}
	if last, ok := of[reason]; ok && last == message {
		return false
	}
	of[reason] = message
	return true
}

// Forget removes the messages of a deleted object.
func (e *Events) Forget(object types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.said, object)
}
