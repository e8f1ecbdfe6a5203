package accounting

import "time"

// NoElement is the element of a record about a job that is not an array.
const NoElement = -1

// Key identifies a record.
type Key struct {
	// Cluster is the name of the cluster.
	Cluster string
	// JobUID is the UID of the Job.
	JobUID string
	// Attempt is 0 for the first attempt to run the job, and the number of the restart for all others.
	Attempt int32
	// Element is the index of the array's element, or NoElement.
	Element int32
}

// Outcome describes how an attempt ended.
type Outcome string

// The outcomes of attempts.
const (
	Completed   Outcome = "Completed"   // all required pods succeeded
	Failed      Outcome = "Failed"      // a pod failed
	TimedOut    Outcome = "TimedOut"    // the attempt exceeded its time limit
	OutOfMemory Outcome = "OutOfMemory" // a container exceeded its memory limit
	NodeFailed  Outcome = "NodeFailed"  // a node was lost
	Cancelled   Outcome = "Cancelled"   // a user ended or deleted the job
	Suspended   Outcome = "Suspended"   // a user suspended the job, and resumed it later
	Preempted   Outcome = "Preempted"   // the job's pods were evicted
	Restarted   Outcome = "Restarted"   // a user or a policy restarted the job
)

// The names of resources that are stored in other units than Kubernetes uses. All other resources have their
// Kubernetes name and unit, for example nvidia.com/gpu.
const (
	// CPU is in thousandths of a CPU.
	CPU = "cpu"
	// Memory is in mebibytes.
	Memory = "memory"
	// Nodes is the number of different nodes.
	Nodes = "node"
)

// Resources holds amounts of resources by name.
type Resources map[string]int64

// Record describes an attempt to run a job, or an element of an array, that has ended.
type Record struct {
	Key
	// JobID is the number of the job, or 0.
	JobID int64
	// Namespace and Name are those of the Job.
	Namespace, Name string
	// User is the user who submitted the job, and Account the account that is charged, as admission established them. Account
	// is empty if the job has none. QOS may be empty.
	User, Account, QOS string
	// Queue is the queue at the end of the attempt.
	Queue   string
	Outcome Outcome
	// Reason is the reason of the job's state, for example a reason of a failure.
	Reason string
	// ExitCode is the exit code of the first container that failed, or 0.
	ExitCode int32
	// Submitted is the creation of the job. Eligible is when nothing but resources delayed the attempt any more. Started
	// is zero if no pod was started.
	Submitted, Eligible, Started, Ended time.Time
	// TimeLimit is 0 if there is no limit.
	TimeLimit time.Duration
	// NodeNames lists the nodes of the pods, in order.
	NodeNames []string
	// Pods is the number of pods that the attempt needed.
	Pods int32
	// Requested is the total of the requests of these pods. Allocated is what was allocated from Started to Ended. It is
	// empty if the attempt did not start.
	Requested, Allocated Resources
	// CPUTime and PeakMemoryBytes are the measured use. They are 0 if it was not measured. The memory is the sum of the
	// peaks of all pods.
	CPUTime         time.Duration
	PeakMemoryBytes int64
	// GPUTime is the sum of the measured utilizations of GPUs over time: an hour if two GPUs were half busy for an hour.
	// GPUMeasured is the sum of the times for which each GPU was measured. If it is 0, GPUTime is unknown.
	GPUTime, GPUMeasured time.Duration
	// Document contains the objects that the record was made from, in the format of package document. The records of
	// all elements of an array that end together share a document.
	Document []byte
}

// Run returns how long the attempt ran. It is 0 if it did not start.
func (r *Record) Run() time.Duration {
	if r.Started.IsZero() || r.Ended.Before(r.Started) {
		return 0
	}
	return r.Ended.Sub(r.Started)
}
