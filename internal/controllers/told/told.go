// Package told remembers what people were told of an object, so that an event is recorded when something is new and not each time that it is looked at.
package told

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Events remembers the last message of each reason, object by object. The zero value is ready; any goroutine may use it.
type Events struct {
	mu   sync.Mutex
	said map[types.NamespacedName]map[string]string
}

// New says whether the message is another one than the last of its reason, and takes note of it.
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

// Forget drops what is known of an object that is gone.
func (e *Events) Forget(object types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.said, object)
}
