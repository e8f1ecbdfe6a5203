package apiserver

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Change is one entry of the history. Its version is the resource version of Object or, for a deletion, of the deletion.
type Change struct {
	Version     uint64
	Kind        schema.GroupVersionKind
	Old, Object client.Object // nil Old: created; nil Object: deleted. Neither may be modified.
	User        string        // user of the request that caused the change
}

// Server is an API server.
type Server struct {
	// History holds all changes in order.
	History []Change
	// Admit is called for each object that a request creates, updates or deletes, after patches have been applied and
	// before defaults and validation. It returns the object to store, which may be modified, or an error. It may be nil.
	Admit func(r *Request, old, object client.Object) (client.Object, error)
	// Changed is called after each change. It may be nil.
	Changed func(Change)

	scheme *runtime.Scheme
	now    func() time.Time
}

// New returns a server without objects.
func New(scheme *runtime.Scheme, now func() time.Time) *Server {
	return &Server{scheme: scheme, now: now}
}
