package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/usererror"
)

// controlServer serves `status` and `nodes` on a unix socket. Only users who may enter the directory can connect.
type controlServer struct {
	path    string
	tempDir string
	server  *http.Server
}

// refusal is an error, as encoded in a response.
type refusal struct {
	What string `json:"what"`
	Hint string `json:"hint,omitempty"`
}

// startControl serves requests for c until stop is called.
func startControl(c *cluster) (*controlServer, error) {
	dir, made, err := controlplane.SocketDir(string(c.settings.Dir), "control.sock")
	if err != nil {
		return nil, err
	}
	s := &controlServer{path: filepath.Join(dir, "control.sock")}
	if made {
		s.tempDir = dir
	}
	_ = os.Remove(s.path) // left behind by a killed process; this process holds the lock
	listener, err := net.Listen("unix", s.path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", handleJSON(func(r *http.Request) (any, error) { return c.currentStatus(r.Context()) }))
	mux.HandleFunc("POST /nodes", handleJSON(func(r *http.Request) (any, error) { return c.addNodes(r) }))
	mux.HandleFunc("DELETE /nodes/{name}", handleJSON(func(r *http.Request) (any, error) {
		return []string{}, c.nodes.removeNode(r.Context(), r.PathValue("name"))
	}))
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

func (s *controlServer) stopServer() {
	if s == nil {
		return
	}
	_ = s.server.Close()
	if s.tempDir != "" {
		_ = os.RemoveAll(s.tempDir)
	}
}

// addNodes starts the nodes in the request and returns their names.
func (c *cluster) addNodes(r *http.Request) ([]string, error) {
	var specs []nodespec.Spec
	if err := json.NewDecoder(r.Body).Decode(&specs); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	statuses, err := c.nodeStatuses(r.Context())
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, node := range statuses {
		taken[node.Name] = true
	}
	nodes, err := nodespec.ExpandSpecs(specs, taken)
	if err != nil {
		return nil, usererror.Wrapf("list the existing nodes with: vc-local nodes list", "%v", err)
	}
	names := []string{}
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	return names, c.nodes.startNewNodes(r.Context(), nodes)
}

func handleJSON(handle func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := handle(r)
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			value = toRefusalReply(err)
		}
		_ = json.NewEncoder(w).Encode(value)
	}
}

func toRefusalReply(err error) refusal {
	var human *usererror.Error
	if errors.As(err, &human) {
		return refusal{What: human.What, Hint: human.Hint}
	}
	return refusal{What: err.Error()}
}

// Client sends requests to the process that is running a cluster.
type Client struct {
	record Record
	http   http.Client
}

// NewClient creates a client for the process described by a record that FindRecord returned.
func NewClient(record Record) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", record.Socket)
	}
	return &Client{record: record, http: http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// Status returns the status of the cluster.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var status Status
	return status, c.sendRequest(ctx, http.MethodGet, "/status", nil, &status)
}

// AddNodes starts nodes. It returns their names once all of them accept pods.
func (c *Client) AddNodes(ctx context.Context, specs []nodespec.Spec) ([]string, error) {
	var names []string
	return names, c.sendRequest(ctx, http.MethodPost, "/nodes", specs, &names)
}

// RemoveNode removes a node and the pods on it.
func (c *Client) RemoveNode(ctx context.Context, name string) error {
	return c.sendRequest(ctx, http.MethodDelete, "/nodes/"+name, nil, nil)
}

func (c *Client) sendRequest(ctx context.Context, method, path string, body, result any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://vc-local"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return usererror.Wrapf("stop the cluster with: vc-local down", "process %d runs the cluster but does not respond: %v", c.record.PID, err)
	}
	defer response.Body.Close()
	if data, err = io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var refused refusal
		if err := json.Unmarshal(data, &refused); err != nil || refused.What == "" {
			refused.What = fmt.Sprintf("process %d answered %s", c.record.PID, response.Status)
		}
		return &usererror.Error{What: refused.What, Hint: refused.Hint}
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(data, result)
}
