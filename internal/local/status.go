package local

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/local/simnode"
)

// The states of a cluster and of its parts.
const (
	stateAbsent   = "absent"   // the directory does not exist
	stateStopped  = "stopped"  // the directory exists, but no process is running
	stateStarting = "starting" // the process has not finished starting
	stateReady    = "ready"    // state of a part
	stateRunning  = "running"  // state of a cluster
)

// Status is the output of `vc-local status`. Scripts can use its JSON form.
type Status struct {
	// State is absent, stopped, starting or running.
	State      string     `json:"state"`
	Dir        string     `json:"dir"`
	PID        int        `json:"pid,omitempty"`
	Since      *time.Time `json:"since,omitempty"`
	Server     string     `json:"server,omitempty"`
	Kubeconfig string     `json:"kubeconfig,omitempty"`
	Kubernetes string     `json:"kubernetes,omitempty"`
	Ephemeral  bool       `json:"ephemeral,omitempty"`
	// MemoryBytes is the resident memory of the process.
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
	// Note is information for the user, for example that a process was killed.
	Note       string       `json:"note,omitempty"`
	Components []PartStatus `json:"components,omitempty"`
	Nodes      []NodeStatus `json:"nodes,omitempty"`
}

// PartStatus is the state of a part.
type PartStatus struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// NodeStatus is the status of a node in the API server.
type NodeStatus struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Ready  bool   `json:"ready"`
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
	// Pods is the number of pods on the node that have not ended.
	Pods int `json:"pods"`
}

// endingGrace is how long to wait for a process that no longer responds to end.
const endingGrace = 2 * time.Second

// ReadClusterStatus returns the status of the cluster in a directory, whether it is running or not.
func ReadClusterStatus(ctx context.Context, d Dir) (Status, error) {
	status := Status{State: stateAbsent, Dir: string(d)}
	ours, err := d.isClusterDir()
	if err != nil || !ours {
		return status, err
	}
	record, running, err := FindRecord(d)
	if err != nil {
		return status, err
	}
	if running && record.Ready {
		answer, err := NewClient(record).Status(ctx)
		if err == nil {
			return answer, nil
		}
		// The process may be about to end.
		if ended, _ := waitUnlocked(ctx, d, endingGrace); !ended {
			return status, err
		}
		running = false
	}
	switch {
	case running:
		status.State, status.PID, status.Since = stateStarting, record.PID, &record.Started
	default:
		status.State = stateStopped
		if left, err := d.readRecord(); err == nil {
			status.Note = fmt.Sprintf("process %d ended without cleaning up and might have been killed; to clean up, run `vc-local up` or `vc-local down`; see the log %s", left.PID, d.ControlPlaneLog())
			if full := d.checkFreeSpace(); full != nil {
				status.Note += "; " + full.Error()
			}
		}
	}
	return status, nil
}

// currentStatus returns the status of the cluster that is running in this process.
func (c *cluster) currentStatus(ctx context.Context) (Status, error) {
	status := Status{
		State: stateRunning, Dir: string(c.settings.Dir), PID: c.record.PID, Since: &c.record.Started,
		Server: c.record.Server, Kubeconfig: c.record.Kubeconfig, Ephemeral: c.settings.Ephemeral,
		MemoryBytes: residentBytes(),
	}
	version, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return status, err
	}
	status.Kubernetes = version.GitVersion
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		status.Components = append(status.Components, PartStatus{Name: name, State: stateReady})
	}
	for name, state := range c.daemon.componentStates() {
		status.Components = append(status.Components, PartStatus{Name: "vcd " + name, State: state})
	}
	slices.SortStableFunc(status.Components[3:], func(a, b PartStatus) int { return strings.Compare(a.Name, b.Name) })
	status.Nodes, err = c.nodeStatuses(ctx)
	return status, err
}

func (c *cluster) nodeStatuses(ctx context.Context) ([]NodeStatus, error) {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		ResourceVersion: "0",
		FieldSelector:   "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
	})
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, pod := range pods.Items {
		count[pod.Spec.NodeName]++
	}
	statuses := make([]NodeStatus, 0, len(nodes.Items))
	for _, node := range nodes.Items {
		statuses = append(statuses, NodeStatus{
			Name: node.Name, Kind: node.Labels[simnode.KindLabel], Ready: simnode.IsReady(&node),
			CPU:    capacityText(node.Status.Allocatable, corev1.ResourceCPU),
			Memory: capacityText(node.Status.Allocatable, corev1.ResourceMemory),
			Pods:   count[node.Name],
		})
	}
	return statuses, nil
}

// residentBytes returns the resident memory of this process, or 0 if it is unknown.
func residentBytes() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
