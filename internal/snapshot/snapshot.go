package snapshot

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Snapshot holds the data of one moment. Its slices and the objects they point to are shared and must not be changed.
type Snapshot struct {
	// At is the arrival time of the last change in the Snapshot. Together with Connection it shows how old the data is.
	At time.Time
	// Serial increases with every Snapshot of a Board.
	Serial uint64

	// Cluster is the name of the cluster's context in the kubeconfig.
	Cluster    string
	Connection Connection
	// Loading lists the kinds whose first list is incomplete, with the number of objects so far; nil if all are
	// complete.
	Loading []Loading
	// Hidden lists the kinds of which the user may not see all objects.
	Hidden []Hidden
	// Policy is the scheduler's plugin that shares resources between queues, capacity or proportion; "" if unknown.
	Policy string

	Nodes  []*Node  // by name
	Queues []*Queue // in tree order: parents before children, siblings by name
	Jobs   []*Job   // by namespace and name
	Events []*Event // the newest last

	// PriorityClasses maps the names of the priority classes to their values; it is empty if they are not visible. It must
	// not be changed.
	PriorityClasses map[string]int32
	// Resources lists the resources that any node has: cpu, memory, then devices by name.
	Resources []corev1.ResourceName
	// Usage is the measured use of nodes and pods; nil if nothing was measured.
	Usage *Usage

	index *index
	memo  *memo
}

// Link is the state of the connection to the API server.
type Link string

// The states of the connection.
const (
	LinkLoading      Link = "loading"      // the first lists are incomplete
	LinkLive         Link = "live"         // all watches are established
	LinkDisconnected Link = "disconnected" // a watch broke and is not established again
)

// Connection describes how up to date the data is.
type Connection struct {
	Link Link
	// Since is the time when Link took its current value.
	Since time.Time
	// Problem is the reason why there is no connection; "" while there is one.
	Problem string
	// Server is the address of the API server.
	Server string
}

// Loading is a kind whose first list is incomplete.
type Loading struct {
	Kind  string // plural name: pods
	Count int    // number of objects so far
}

// Hidden is a kind of which the user may not see all objects.
type Hidden struct {
	Kind string // plural name: pods
	// Namespaces lists the namespaces whose objects are shown nevertheless. Empty means that no objects of the kind
	// are.
	Namespaces []string
	// Why is the server's error message.
	Why string
}

// HiddenKind returns the entry of a kind in Hidden. ok is false if nothing of the kind is hidden.
func (s *Snapshot) HiddenKind(kind string) (hidden Hidden, ok bool) {
	for _, h := range s.Hidden {
		if h.Kind == kind {
			return h, true
		}
	}
	return Hidden{}, false
}

// IsComplete reports whether the first list of a kind is complete, as far as the user may see it.
func (s *Snapshot) IsComplete(kind string) bool {
	return !slices.ContainsFunc(s.Loading, func(l Loading) bool { return l.Kind == kind })
}

// index finds rows by UID or name. Successive Snapshots with the same rows share one.
type index struct {
	once   sync.Once
	jobs   map[types.UID]int
	nodes  map[string]int
	queues map[string]int
}

func (s *Snapshot) buildIndex() *index {
	i := s.index
	i.once.Do(func() {
		i.jobs, i.nodes, i.queues = make(map[types.UID]int, len(s.Jobs)), make(map[string]int, len(s.Nodes)), make(map[string]int, len(s.Queues))
		for at, job := range s.Jobs {
			i.jobs[job.UID] = at
		}
		for at, node := range s.Nodes {
			i.nodes[node.Name] = at
		}
		for at, queue := range s.Queues {
			i.queues[queue.Name] = at
		}
	})
	return i
}

// Job returns the job with a UID, or nil.
func (s *Snapshot) Job(uid types.UID) *Job {
	if at, ok := s.buildIndex().jobs[uid]; ok {
		return s.Jobs[at]
	}
	return nil
}

// Node returns the node with a name, or nil.
func (s *Snapshot) Node(name string) *Node {
	if at, ok := s.buildIndex().nodes[name]; ok {
		return s.Nodes[at]
	}
	return nil
}

// Queue returns the queue with a name, or nil.
func (s *Snapshot) Queue(name string) *Queue {
	if at, ok := s.buildIndex().queues[name]; ok {
		return s.Queues[at]
	}
	return nil
}

// EmptySnapshot returns the Snapshot before any object has arrived.
func EmptySnapshot(now time.Time) *Snapshot {
	return &Snapshot{At: now, Connection: Connection{Link: LinkLoading, Since: now}, index: &index{}}
}
