package apiclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// sendToServer sends one write with a config's timeout to a server that responds once respond is closed.
func sendToServer(t *testing.T, timeout time.Duration, respond <-chan struct{}) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client ended the request
		select {
		case <-respond:
			w.WriteHeader(http.StatusCreated)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	writer, err := NewWriter(&rest.Config{Host: server.URL, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return writer.Send(t.Context(), &WriteRequest{Method: http.MethodPost, Path: "/api/v1/namespaces/ns/pods/p/binding",
		ContentType: "application/json", Body: []byte("{}"), Resource: schema.GroupResource{Resource: "pods"}, Name: "p"})
}

func TestWriterWithoutTimeoutWaitsForTheResponse(t *testing.T) {
	respond := make(chan struct{})
	close(respond)
	if err := sendToServer(t, 0, respond); err != nil {
		t.Errorf("a write without a time limit: %v", err)
	}
}

func TestWriterEndsAWriteAtItsTimeout(t *testing.T) {
	err := sendToServer(t, 50*time.Millisecond, make(chan struct{}))
	if err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("got %v, want an error about the deadline", err)
	}
}
