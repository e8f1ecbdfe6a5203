package apiserver

import (
	"context"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Connection carries the requests of one process to a server. It records them, and fails where a test wants it to.
type Connection struct {
	server *Server
	// WritesLeft is the number of writes that succeed before the process dies; -1 means no limit.
	WritesLeft int
	// LoseLastResponse makes the last write before the death take effect, although the process receives no response.
	LoseLastResponse bool
	// Writes and Reads list the requests of the process, such as "create Pod ns/web-0" and "get Job ns/web".
	Writes, Reads []string
	// Rejected maps requests, named as in Writes, to the errors that they get.
	Rejected map[string]error
	// Faults holds the fault of each of the next writes. HasFailed reports that one of them has occurred.
	Faults    []Fault
	HasFailed bool
}

// NewConnection returns a connection without faults.
func NewConnection(s *Server) *Connection { return &Connection{server: s, WritesLeft: -1} }

// Client returns a client that uses the connection.
func (c *Connection) Client() *Client { return NewClient(c.server.scheme, c.Send) }

// Fault is a temporary fault of an API server. The zero value is none.
type Fault struct {
	Err         error
	TakesEffect bool // the write takes effect in spite of the error
}

// PossibleFaults returns faults from which a property test draws. Some of them are none.
func PossibleFaults() []Fault {
	return []Fault{
		{}, {},
		{Err: apierrors.NewTooManyRequests("slow down", 1)},
		{Err: apierrors.NewInternalError(errors.New("etcd has no leader"))},
		{Err: apierrors.NewTimeoutError("it took too long", 1)},
		{Err: apierrors.NewTimeoutError("it took too long", 1), TakesEffect: true},
		{Err: apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, "one", errors.New("the object has been modified"))},
	}
}

// ErrDead is the error of every request after the process has died.
var ErrDead = errors.New("the process is dead")

// Send sends a request.
func (c *Connection) Send(_ context.Context, r *Request) (runtime.Object, error) {
	if c.WritesLeft == 0 {
		return nil, ErrDead
	}
	if !r.IsWrite() {
		c.Reads = append(c.Reads, r.String())
		return c.server.Do(r)
	}
	c.Writes = append(c.Writes, r.String())
	if err := c.Rejected[r.String()]; err != nil {
		return nil, err
	}
	fault := c.nextFault(r)
	if fault.Err != nil && !fault.TakesEffect {
		return nil, fault.Err
	}
	if c.WritesLeft > 0 {
		c.WritesLeft--
	}
	result, err := c.server.Do(r)
	switch {
	case c.WritesLeft == 0 && c.LoseLastResponse:
		return nil, ErrDead
	case err == nil && fault.Err != nil:
		return nil, fault.Err
	}
	return result, err
}

// nextFault returns the fault of a write. Only a write that contains a resource version can have a conflict.
func (c *Connection) nextFault(r *Request) Fault {
	if len(c.Faults) == 0 {
		return Fault{}
	}
	next := c.Faults[0]
	c.Faults = c.Faults[1:]
	if apierrors.IsConflict(next.Err) && !r.containsVersion() {
		return Fault{}
	}
	c.HasFailed = c.HasFailed || next.Err != nil
	return next
}

// containsVersion reports whether a request fails if the object has another resource version.
func (r *Request) containsVersion() bool {
	switch r.Verb {
	case Update:
		return r.Object.GetResourceVersion() != ""
	case Patch:
		var patch struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
		}
		return json.Unmarshal(r.Patch, &patch) == nil && patch.Metadata.ResourceVersion != ""
	}
	return false
}
