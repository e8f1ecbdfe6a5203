package v1alpha1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobGate is what is known of the conditions on which a job waits before it starts.
type JobGate struct {
	// Until is the earliest time at which the job can start, where that is known.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// Met are the dependencies that are met for good, as they are written: also when the jobs are gone.
	// +optional
	Met []string `json:"met,omitempty"`
	// Failed are the dependencies that can never be met, as they are written, since the jobs ended otherwise: also when these are gone.
	// +optional
	Failed []string `json:"failed,omitempty"`
}

// JobFailure is why a job failed.
type JobFailure struct {
	// Reason is a code: PodFailed, DeadlineExceeded, StartError, OOMKilled, Evicted, Preempted, NodeStopped, PodRefused.
	Reason string `json:"reason"`
	// Message is one sentence for people, which names the pod by its task and index.
	// +optional
	Message string `json:"message,omitempty"`
	// ExitCode is that of the pod's first container that ended badly; none where no container did, as when a node was lost.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// ArrayStatus is what became of the elements of an array, by their indices as 0-4,7. Those that are in no list wait.
type ArrayStatus struct {
	// Running are the elements that have pods which have not ended.
	// +optional
	Running string `json:"running,omitempty"`
	// Succeeded are the elements all of whose pods have succeeded.
	// +optional
	Succeeded string `json:"succeeded,omitempty"`
	// Failed are the elements whose pods have ended, not all of them well.
	// +optional
	Failed string `json:"failed,omitempty"`
	// Cancelled are the elements that were cancelled before they had ended.
	// +optional
	Cancelled string `json:"cancelled,omitempty"`
	// ExitCodes are the elements that failed by the exit code of their first container that failed; -1 where there is none, as when a
	// node was lost.
	// +optional
	ExitCodes map[string]string `json:"exitCodes,omitempty"`
	// Causes are the elements that failed of something else than what their containers did by themselves, by the code of it: DeadlineExceeded,
	// OOMKilled, Evicted, NodeStopped and the like.
	// +optional
	Causes map[string]string `json:"causes,omitempty"`
	// Reason is the code of why the elements that wait are not started, where the job itself holds them back.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Times are written when the job has ended: for every element that has ended itself, in the order of the indices, when it started and how long
	// it ran, in seconds, as START+LENGTH with the start counted from the creation of the job; - where nobody knows. Separated by blanks.
	// +optional
	Times string `json:"times,omitempty"`
}

// JobEvictions counts the evictions of a job's pods.
type JobEvictions struct {
	// Times is how often pods were evicted; pods that are evicted within a minute count as one time.
	Times int32 `json:"times"`
	// Pods is how many pods were evicted in all.
	Pods int32 `json:"pods"`
	// Last is the last eviction.
	Last JobEviction `json:"last"`
}

// JobEviction is one eviction of pods of a job.
type JobEviction struct {
	// At is when the first of the pods was told to end.
	At metav1.Time `json:"at"`
	// Reason is a code: Preempted, Evicted, NodeStopped.
	Reason string `json:"reason"`
	// Message says what the pods were evicted for: the job or queue that takes their room, with both priorities, or the drained node.
	// +optional
	Message string `json:"message,omitempty"`
	// Pods is how many pods were evicted.
	Pods int32 `json:"pods"`
	// Tasks are the indices of the pods by task, as 0-4,7.
	// +optional
	Tasks map[string]string `json:"tasks,omitempty"`
	// Ran is how long the longest of them had run.
	// +optional
	Ran *metav1.Duration `json:"ran,omitempty"`
}

// MaxStatusNodesPods is the maximum number of pods in status.nodes.
const MaxStatusNodesPods = 1000

// JobNode is a node and the pods of a job that ran on it.
type JobNode struct {
	// Name is the name of the node.
	Name string `json:"name"`
	// Tasks are the indices of the pods by task, as 0-4,7.
	Tasks map[string]string `json:"tasks"`
}

// PodPlace identifies a pod of a job by its task and its index in it.
type PodPlace struct {
	Task  string
	Index int32
}

// NodesOfPods returns the node of each pod in a list of nodes.
func NodesOfPods(nodes []JobNode) map[PodPlace]string {
	found := map[PodPlace]string{}
	for _, node := range nodes {
		for task, text := range node.Tasks {
			indices, _ := ParseIndices(text)
			if indices.Count() > MaxStatusNodesPods {
				continue // the controller writes no such list
			}
			for index := range indices.All() {
				found[PodPlace{Task: task, Index: index}] = node.Name
			}
		}
	}
	return found
}

// JobNodesOf returns the nodes, sorted by name, each with the pods that ran on it.
func JobNodesOf(pods map[PodPlace]string) []JobNode {
	indices := map[string]map[string][]int32{}
	for place, node := range pods {
		if indices[node] == nil {
			indices[node] = map[string][]int32{}
		}
		indices[node][place.Task] = append(indices[node][place.Task], place.Index)
	}
	var nodes []JobNode
	for _, name := range slices.Sorted(maps.Keys(indices)) {
		node := JobNode{Name: name, Tasks: map[string]string{}}
		for task, list := range indices[name] {
			node.Tasks[task] = IndicesOf(list).String()
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// MaxStatusReports is the maximum number of reports in status.reports, and MaxStatusReportBytes that of the bytes of all their messages.
const (
	MaxStatusReports     = 1000
	MaxStatusReportBytes = 64 << 10
)

// PodReport is the termination message of a pod that was deleted.
type PodReport struct {
	// Task is the name of the pod's task.
	Task string `json:"task"`
	// Index is the pod's index in its task.
	Index int32 `json:"index"`
	// StartTime is when the container began that wrote the message.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// FinishTime is when the container ended.
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`
	// Message is the termination message of the container.
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message"`
}

// ReportFits reports whether a list of reports has room for one more message.
func ReportFits(reports []PodReport, message string) bool {
	size := len(message)
	for i := range reports {
		size += len(reports[i].Message)
	}
	return len(reports) < MaxStatusReports && size <= MaxStatusReportBytes
}
