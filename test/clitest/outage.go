package clitest

import (
	"context"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StartOutage starts an outage: it closes all connections, and the server responds with errors until EndOutage is
// called.
func (s *Server) StartOutage() {
	s.mu.Lock()
	s.away = true
	s.mu.Unlock()
	s.http.CloseClientConnections()
}

// EndOutage ends the outage.
func (s *Server) EndOutage() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = false
}

// rejectDuringOutage responds to a request during an outage as a proxy in front of the server would. It reports whether
// there is an outage.
func (s *Server) rejectDuringOutage(w http.ResponseWriter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		writeJSON(w, http.StatusServiceUnavailable, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
			Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable, Message: "no backend answers"})
	}
	return s.away
}

// connection is the context key of a request's network connection.
type connection struct{}

func storeConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, conn)
}

// connectionOf returns the network connection of a request. To the client, closing it looks as if the server had
// crashed.
func connectionOf(r *http.Request) net.Conn {
	conn, _ := r.Context().Value(connection{}).(net.Conn)
	return conn
}

// WaitForWatch waits until a client has started a watch.
func (s *Server) WaitForWatch(t testing.TB) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		s.mu.Lock()
		isWatched := len(s.watchers) > 0
		s.mu.Unlock()
		if isWatched {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("nobody watches; there were: %q", slices.Clone(s.Requests()))
		}
	}
}
