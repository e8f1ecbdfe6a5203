// Package leaderfence decides whether a leader may still write.
//
//	In:   the times at which successful renewals of the lease were sent
//	Out:  whether a write may be sent now
//
// # Invariants
//
//   - A renewal counts from the time at which it was sent. A process that is suspended while it waits for the response
//     receives the response when it continues. By then, another process may have taken over the lease.
//
// # Concurrency
//
// A Fence is safe for concurrent use.
package leaderfence

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// ErrNotLeader is the error of a write that a closed fence prevents.
var ErrNotLeader = errors.New("this process is not the leader")

// CheckMethod returns the error of a fence if a request with this HTTP method may not be sent. Requests that only read are
// always permitted.
func CheckMethod(method string, fence func() error) error {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	return fence()
}

// Fence permits writes for a limited time after each renewal of the lease. The lease itself must last longer. The
// difference allows for clock skew and calls in flight.
type Fence struct {
	limit time.Duration

	mu      sync.Mutex
	renewed time.Time // when the last successful renewal was sent; zero means never, or that the lease was released
}

// New returns a closed fence that a renewal opens for a time.
func New(limit time.Duration) *Fence { return &Fence{limit: limit} }

// RecordRenewal opens the fence after a successful renewal that was sent at a time.
func (f *Fence) RecordRenewal(sent time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renewed = sent
}

// Close closes the fence until the next renewal.
func (f *Fence) Close() { f.RecordRenewal(time.Time{}) }

// Check returns ErrNotLeader if no write may be sent now.
func (f *Fence) Check(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renewed.IsZero() || now.Sub(f.renewed) > f.limit {
		return ErrNotLeader
	}
	return nil
}
