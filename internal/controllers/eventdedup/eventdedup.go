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
	last map[types.NamespacedName]map[string]string
}

// New stores the message and reports whether it differs from the last message with the same reason.
func (e *Events) New(object types.NamespacedName, reason, message string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		e.last = map[types.NamespacedName]map[string]string{}
	}
	of := e.last[object]
	if of == nil {
		of = map[string]string{}
		e.last[object] = of
	}
	if before, ok := of[reason]; ok && before == message {
		return false
	}
	of[reason] = message
	return true
}

// Forget removes the messages of a deleted object.
func (e *Events) Forget(object types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.last, object)
}
