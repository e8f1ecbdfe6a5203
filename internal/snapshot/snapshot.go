package snapshot

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Snapshot is what is known at one moment. The slices and what they point to are shared: read only.
type Snapshot struct {
	// At is when the last change that is in it arrived; with Connection it says how old the picture is.
	At time.Time
	// Serial rises with every Snapshot of a Board.
	Serial uint64

	// Cluster is what the kubeconfig calls the cluster: its context.
	Cluster    string
	Connection Connection
	// Loading are the kinds whose first list is not complete yet, with how many objects arrived; nil: all is here.
	Loading []Loading
	// Hidden are the kinds that the user may not see as a whole.
	Hidden []Hidden
	// Policy is the scheduler's plugin that shares between queues, capacity or proportion; "" when nobody knows.
	Policy string

	Nodes  []*Node  // by name
	Queues []*Queue // in the order of the tree: each before those below it, siblings by name
	Jobs   []*Job   // by namespace and name
	Events []*Event // the newest last

	// Resources are those that any node has: cpu, memory, then devices by name.
	Resources []corev1.ResourceName

	index *index
	memo  *memo
}

// Link says how the way to the API server is.
type Link string

// The links.
const (
	LinkLoading      Link = "loading"      // the first lists are on their way
	LinkLive         Link = "live"         // every watch stands
	LinkDisconnected Link = "disconnected" // a watch broke and could not be set up again yet
)

// Connection is how the picture is kept up to date.
type Connection struct {
	Link Link
	// Since is when Link became what it is.
	Since time.Time
	// Problem is why there is no connection; "" while there is one.
	Problem string
	// Server is the address that is asked.
	Server string
}

// Loading is a kind whose first list is not complete.
type Loading struct {
	Kind  string // in the plural: pods
	Count int    // that arrived so far
}

// Hidden is a kind that the user may not see as a whole.
type Hidden struct {
	Kind string // in the plural: pods
	// Namespaces are those whose objects are shown nevertheless; none: nothing of the kind is.
	Namespaces []string
	// Why is what the server said.
	Why string
}

// HiddenKind is what is hidden of a kind; ok is false when nothing is.
func (s *Snapshot) HiddenKind(kind string) (hidden Hidden, ok bool) {
	for _, h := range s.Hidden {
		if h.Kind == kind {
			return h, true
		}
	}
	return Hidden{}, false
}

// Complete says that all objects of a kind that may be seen are here.
func (s *Snapshot) Complete(kind string) bool {
	for _, l := range s.Loading {
		if l.Kind == kind {
			return false
		}
	}
	return true
}

// index finds rows by what they are called. Successive Snapshots with the same rows share one.
type index struct {
	once   sync.Once
	jobs   map[types.UID]int
	nodes  map[string]int
	queues map[string]int
}

func (s *Snapshot) look() *index {
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

// Job is the job with a UID; nil when there is none (any more).
func (s *Snapshot) Job(uid types.UID) *Job {
	if at, ok := s.look().jobs[uid]; ok {
		return s.Jobs[at]
	}
	return nil
}

// Node is the node of a name; nil when there is none (any more).
func (s *Snapshot) Node(name string) *Node {
	if at, ok := s.look().nodes[name]; ok {
		return s.Nodes[at]
	}
	return nil
}

// Queue is the queue of a name; nil when there is none (any more).
func (s *Snapshot) Queue(name string) *Queue {
	if at, ok := s.look().queues[name]; ok {
		return s.Queues[at]
	}
	return nil
}

// Empty is the Snapshot before anything arrived.
func Empty(now time.Time) *Snapshot {
	return &Snapshot{At: now, Connection: Connection{Link: LinkLoading, Since: now}, index: &index{}}
}
