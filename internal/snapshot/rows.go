package snapshot

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/room"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Amounts are milli-cpu, bytes of memory, and units of devices by their names.
type Amounts = room.Amounts

// Node is a node with what runs on it.
type Node struct {
	UID   types.UID
	Name  string
	State room.State // idle, mix, alloc, drng, drain, down
	// Status is the state in kubectl's words, as `vcctl node list` shows it.
	Status          string
	Ready, Cordoned bool
	// Since is when the kubelet said last that it works, or stopped to.
	Since   time.Time
	Created time.Time
	// Problem is why the node is down, in its own words.
	Problem string

	// Has is what pods may ask for, Idle what of it nobody has asked for. Idle may be negative. Without the right to see
	// pods Unknown is set, and Used and Idle say nothing.
	Has, Used, Idle Amounts
	Unknown         bool
	// PodLimit is how many pods may be on it.
	PodLimit int64

	// HyperNodes are those that the node is in, the nearest first.
	HyperNodes []string
	// Rack and Pool are what labels call them; "" when none does.
	Rack, Pool string
	Labels     map[string]string
	Taints     []string // as key=value:effect
	Address    string

	Pods []*Pod // that hold something of it, by namespace and name
}

// Queue is a queue as it stands in the tree.
type Queue struct {
	UID    types.UID
	Name   string
	Parent string // "" at the top
	Depth  int    // 0 at the top
	State  schedulingv1beta1.QueueState

	// Running and Waiting count the pod groups in it and in those below it.
	Running, Waiting int
	// Admitted is what gangs ask for that are let in and have no nodes yet, in it and below it.
	Admitted corev1.ResourceList
	// Pending are the jobs that wait in it, not those below it, in the order in which the scheduler looks at them.
	Pending []*Job

	// Object is the queue itself: limits, status, weight.
	Object *schedulingv1beta1.Queue
}

// Job is a job with its pods.
type Job struct {
	UID             types.UID
	ID              string // its number; "" when it has none
	Namespace, Name string
	Title           string // what its user called it
	Queue, User     string

	Phase batchv1alpha1.JobPhase
	// State is Slurm's code of two letters: PD, CF, R, RQ, CG, CD, S, CA, TO, OOM, NF, PR, BF, F.
	State string
	// Reason is Slurm's word for why it waits or how it ended; "" when there is nothing to say.
	Reason string
	// Code and Says are the same as `vcctl job list` says it: a code of api/reason and a sentence.
	Code, Says string

	PriorityClass string
	Priority      int32
	// Pods that are wanted, and how many of them at once.
	Replicas, Min int32
	// Bound is how many have a node or have succeeded, as READY of `vcctl job list` counts them.
	Bound int32
	// Running, Waiting, Failed, Succeeded count pods; Waiting have no node or have not started.
	Running, Waiting, Failed, Succeeded int32
	// GPUs that all pods ask for together.
	GPUs int64
	// NodeCount is on how many nodes it is; 0: none yet. NodeList are their names, folded: r05n[01-06].
	NodeCount int
	NodeList  string

	Submitted, Started, Ended time.Time // zero: not yet
	// Limit is how long it may run; 0: for ever.
	Limit time.Duration
	// EstimatedStart is the scheduler's; zero: not known.
	EstimatedStart time.Time
	// Position is its place among those that wait in its queue, from 1; 0: not known.
	Position int32

	// Object is the job without what its pods are made of but for what they ask for; Group its PodGroup, nil when there is none.
	Object *batchv1alpha1.Job
	Group  *schedulingv1beta1.PodGroup
	Pods   []*Pod // by task, index and name

	groupUnknown bool
}

// Pod is a pod, cut down to what is shown.
type Pod struct {
	UID             types.UID
	Namespace, Name string
	Node            string // "" while it has none
	Job             string // the name of its job; "" when it is of none
	JobUID          types.UID
	JobID           string // the number of its job
	Task            string
	Index           int32 // in its task
	Phase           corev1.PodPhase
	State           string // the word that kubectl shows
	Ready           string // containers that are ready, of all: 1/2
	Restarts        int32
	Terminating     bool
	// Stays says that a drain leaves it on its node; Alone that nobody makes another one when it goes.
	Stays, Alone bool
	// Trouble is why it does not get to work though it has a node, in one word; "" when nothing holds it up.
	Trouble string
	// Message is what holds it up, or how it ended, in the node's words.
	Message string
	// Exited says that it ended; then ExitCode is that of its first container that failed, else 0.
	Exited   bool
	ExitCode int32

	Created, Bound, Started, Ended time.Time // zero: not yet
	// Containers are their names, those that are to run side by side.
	Containers []string
	// Asks is what it holds on its node while it has not ended.
	Asks *Amounts

	how   state.Code // how it ended, if badly
	stuck bool       // an image cannot be pulled, or a container not be created
}

type podUID = types.UID

// Event is what somebody told about an object.
type Event struct {
	UID  types.UID
	At   time.Time // when it was told last
	Type string    // Normal or Warning
	// Reason is one word, Message a sentence.
	Reason, Message string
	Count           int32
	// Kind, Namespace, Name and Of say about what.
	Kind, Namespace, Name string
	Of                    types.UID
}
