package snapshot

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Amounts holds milli-CPU, bytes of memory, and numbers of devices by name.
type Amounts = nodecapacity.Amounts

// Node is a node with its pods.
type Node struct {
	UID   types.UID
	Name  string
	State nodecapacity.State // idle, mix, alloc, drng, drain, down
	// Status is the state as kubectl and `vcctl node list` show it.
	Status          string
	Ready, Cordoned bool
	// Since is the time when the kubelet's ready condition last changed.
	Since   time.Time
	Created time.Time
	// Problem is the node's own message about why it is down.
	Problem string

	// Has is the allocatable amount, Used the requested amount, and Idle the difference, which may be negative. If the
	// user may not see pods, Unknown is true, and Used and Idle have no meaning.
	Has, Used, Idle Amounts
	Unknown         bool
	// PodLimit is the greatest number of pods on the node.
	PodLimit int64

	// HyperNodes lists the hypernodes that contain the node, the nearest first.
	HyperNodes []string
	// Rack and Pool come from the node's labels; "" without such a label.
	Rack, Pool string
	Labels     map[string]string
	Taints     []string // as key=value:effect
	Address    string

	Pods []*Pod // the pods that use its resources, by namespace and name
}

// Queue is a queue with its position in the tree.
type Queue struct {
	UID    types.UID
	Name   string
	Parent string // "" at the top
	Depth  int    // 0 at the top
	State  schedulingv1beta1.QueueState

	// Running and Waiting count the pod groups in the queue and its descendants.
	Running, Waiting int
	// Admitted is the total request of admitted gangs without nodes, in the queue and its descendants.
	Admitted corev1.ResourceList
	// Pods is the number of pods on nodes, of jobs in the queue and its descendants; -1 if pods are not visible.
	Pods int
	// Pending lists the pending jobs of the queue itself, in the order in which the scheduler tries them.
	Pending []*Job

	// Object is the queue's API object: limits, status, weight.
	Object *schedulingv1beta1.Queue
}

// Job is a job with its pods.
type Job struct {
	UID             types.UID
	ID              string // its number; "" if it has no number
	Namespace, Name string
	Title           string // the name given by the user
	Queue, User     string

	Phase batchv1alpha1.JobPhase
	// State is Slurm's short code: PD, CF, R, RQ, CG, CD, S, CA, TO, OOM, NF, PR, BF or F. An array that completed
	// although elements of it failed has the state F.
	State string
	// Reason is Slurm's reason for waiting or for the job's end; or "".
	Reason string
	// Code and Says are the reason as `vcctl job list` shows it: a code of api/reason and a sentence.
	Code, Says string

	// Priority is the value of the priority class; 0 if the job has no class, or if PriorityUnknown is true because
	// the class does not exist or is not visible to the user.
	PriorityClass   string
	Priority        int32
	PriorityUnknown bool
	// Replicas is the number of pods, Min the number that must run at the same time.
	Replicas, Min int32
	// Bound is the number of pods that have a node or have succeeded, as in READY of `vcctl job list`.
	Bound int32
	// Running, Waiting, Failed and Succeeded count pods. Waiting pods have no node or have not started.
	Running, Waiting, Failed, Succeeded int32
	// PodsOnNodes is the number of pods that have a node and have not ended.
	PodsOnNodes int
	// GPUs is the number of GPUs that all pods request together.
	GPUs int64
	// MilliCPU and MemoryBytes are the total requests of all pods.
	MilliCPU, MemoryBytes int64
	// NodeCount is the number of nodes the job runs on; 0 if none yet. NodeList is the folded list of their names:
	// r05n[01-06].
	NodeCount int
	NodeList  string

	Submitted, Started, Ended time.Time // zero: not yet
	// Limit is the job's time limit; 0 means no limit.
	Limit time.Duration
	// EstimatedStart is the scheduler's estimate; zero if unknown.
	EstimatedStart time.Time
	// Position is the job's place among the pending jobs of its queue, starting at 1; 0 if unknown.
	Position int32

	// Object is the job, with pod templates reduced to their requests. Group is its PodGroup, or nil.
	Object *batchv1alpha1.Job
	Group  *schedulingv1beta1.PodGroup
	Pods   []*Pod // by task, index and name

	groupUnknown bool
}

// Pod is a pod, reduced to the fields that are shown.
type Pod struct {
	UID             types.UID
	Namespace, Name string
	Node            string // "" while unbound
	Job             string // name of its job; "" without a job
	JobUID          types.UID
	JobID           string // number of its job
	Task            string
	Index           int32 // index within its task
	Phase           corev1.PodPhase
	State           string // status as kubectl shows it
	Ready           string // ready containers of all containers: 1/2
	Restarts        int32
	Terminating     bool
	// Stays reports whether a drain leaves the pod on its node. Alone reports whether no controller would replace it,
	// KeepsData whether it has data that is lost with it.
	Stays, Alone, KeepsData bool
	// Trouble is one word for the reason why a pod with a node does not start; "" if there is no problem.
	Trouble string
	// Message is the node's message about the problem, or about how the pod ended.
	Message string
	// Exited reports whether the pod ended. ExitCode is then the code of the first failed container, or 0.
	Exited   bool
	ExitCode int32

	Created, Bound, Started, Ended Moment
	// Containers lists the names of the containers that run side by side.
	Containers []string
	// Asks is the amount that the pod uses on its node until it ends.
	Asks *Amounts

	how   state.Code // the way it failed, if it did
	stuck bool       // an image cannot be pulled, or a container cannot be created
}

type podUID = types.UID

// Moment is a point in time in Unix nanoseconds, or 0 if the event has not happened yet. It needs a third of the memory of
// a time.Time, which matters for hundreds of thousands of pods.
type Moment int64

// MomentOf returns the Moment of a time.
func MomentOf(t time.Time) Moment {
	if t.IsZero() {
		return 0
	}
	return Moment(t.UnixNano())
}

// Time returns the time, which is zero if the event has not happened yet.
func (m Moment) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(m))
}

// IsZero reports whether the event has not happened yet.
func (m Moment) IsZero() bool { return m == 0 }

// Event is an event about an object.
type Event struct {
	UID  types.UID
	At   time.Time // last occurrence
	Type string    // Normal or Warning
	// Reason is one word, Message a sentence.
	Reason, Message string
	Count           int32
	// Kind, Namespace, Name and Of (the UID) identify the object.
	Kind, Namespace, Name string
	Of                    types.UID
}
