// Package eventdedup deduplicates events: it stores the last message per object and reason, so that an event is recorded only
// when its message is new.
package eventdedup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Events stores the last message of each reason per object. The zero value is ready to use, and it is safe for
// concurrent use.
type Events struct {
	mu   sync.Mutex
	said map[types.NamespacedName]map[string]string
}

// New reports whether the message differs from the last one with the same reason, and stores it.
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
