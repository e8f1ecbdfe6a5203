package v1alpha1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobGate describes what is known about the conditions that delay the start of a job.
type JobGate struct {
	// Until is the earliest time at which the job can start, if it is known.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// Met lists the dependencies that have been met permanently, in their original notation. They remain met even if
	// the jobs are deleted.
	// +optional
	Met []string `json:"met,omitempty"`
	// Failed lists the dependencies that can never be met because of how the jobs ended, in their original notation.
	// They remain failed even if the jobs are deleted.
	// +optional
	Failed []string `json:"failed,omitempty"`
}

// JobFailure describes why a job failed.
type JobFailure struct {
	// Reason is a code: PodFailed, DeadlineExceeded, StartError, OOMKilled, Evicted, Preempted, NodeStopped or
	// PodRefused.
	Reason string `json:"reason"`
	// Message is a sentence that describes the failure and identifies the pod by task and index.
	// +optional
	Message string `json:"message,omitempty"`
	// ExitCode is the exit code of the first container that failed in the pod. It is unset if no container failed,
	// for example because the node was lost.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// ArrayStatus is the state of the elements of an array. Each set of elements is a list of indices such as 0-4,7.
// Elements that are in none of the lists are waiting.
type ArrayStatus struct {
	// Running lists the elements that have pods which have not ended.
	// +optional
	Running string `json:"running,omitempty"`
	// Succeeded lists the elements of which all pods have succeeded.
	// +optional
	Succeeded string `json:"succeeded,omitempty"`
	// Failed lists the elements whose pods have all ended, but not all of them successfully.
	// +optional
	Failed string `json:"failed,omitempty"`
	// Cancelled lists the elements that were cancelled before they ended.
	// +optional
	Cancelled string `json:"cancelled,omitempty"`
	// ExitCodes maps exit codes to the failed elements. The exit code of an element is that of its first container
	// that failed, or -1 if no container failed, for example because a node was lost.
	// +optional
	ExitCodes map[string]string `json:"exitCodes,omitempty"`
	// Causes maps codes such as DeadlineExceeded, OOMKilled, Evicted or NodeStopped to the elements that failed for
	// this reason. It does not contain elements whose containers failed by themselves.
	// +optional
	Causes map[string]string `json:"causes,omitempty"`
	// Reason is the code for the reason why waiting elements are not started, if the job itself holds them back.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Times lists when each element that has ended started and how long it ran. It is written when the job has ended.
	// The entries are in the order of the indices, separated by blanks. Each entry has the form START+LENGTH in
	// seconds, where START is relative to the creation of the job, or is "-" if the times are unknown.
	// +optional
	Times string `json:"times,omitempty"`
}

// JobEvictions counts the evictions of a job's pods.
type JobEvictions struct {
	// Times is the number of times that pods were evicted. Evictions within a minute count once.
	Times int32 `json:"times"`
	// Pods is the total number of evicted pods.
	Pods int32 `json:"pods"`
	// Last describes the last eviction.
	Last JobEviction `json:"last"`
}

// JobEviction describes an eviction of pods of a job.
type JobEviction struct {
	// At is the time when the first of the pods was asked to terminate.
	At metav1.Time `json:"at"`
	// Reason is a code: Preempted, Evicted or NodeStopped.
	Reason string `json:"reason"`
	// Message describes why the pods were evicted. It names the job or queue that gets their resources, with both
	// priorities, or the drained node.
	// +optional
	Message string `json:"message,omitempty"`
	// Pods is the number of evicted pods.
	Pods int32 `json:"pods"`
	// Tasks maps each task to the indices of its evicted pods, for example 0-4,7.
	// +optional
	Tasks map[string]string `json:"tasks,omitempty"`
	// Ran is the run time of the evicted pod that had been running longest.
	// +optional
	Ran *metav1.Duration `json:"ran,omitempty"`
}

// MaxStatusNodesPods is the maximum number of pods in status.nodes.
const MaxStatusNodesPods = 1000

// JobNode is a node and the pods of a job that ran on it.
type JobNode struct {
	// Name is the name of the node.
	Name string `json:"name"`
	// Tasks maps each task to the indices of its pods on the node, for example 0-4,7.
	Tasks map[string]string `json:"tasks"`
}

// PodPlace identifies a pod of a job by its task and its index in the task.
type PodPlace struct {
	Task  string
	Index int32
}

// NodesOfPods maps each pod in a list of nodes to the name of its node.
func NodesOfPods(nodes []JobNode) map[PodPlace]string {
	found := map[PodPlace]string{}
	for _, node := range nodes {
		for task, text := range node.Tasks {
			indices, _ := ParseIndices(text)
			if indices.Count() > MaxStatusNodesPods {
				continue // the controller does not write such a list
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

// MaxStatusReports is the maximum number of reports in status.reports, and MaxStatusReportBytes is the maximum total
// size of their messages.
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
	// StartTime is the time when the container that wrote the message started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// FinishTime is the time when the container ended.
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`
	// Message is the termination message of the container.
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message"`
}

// ReportFits reports whether one more message can be added to a list of reports.
func ReportFits(reports []PodReport, message string) bool {
	size := len(message)
	for i := range reports {
		size += len(reports[i].Message)
	}
	return len(reports) < MaxStatusReports && size <= MaxStatusReportBytes
}

// MaxStatusAttempts is the maximum number of attempts in status.attempts, and MaxAttemptNodes the maximum number of nodes
// of an attempt.
const (
	MaxStatusAttempts = 8
	MaxAttemptNodes   = 100
)

// JobAttempt describes an attempt to run a job that was followed by a restart.
type JobAttempt struct {
	// Number is 0 for the first attempt, and the number of the restart for all others.
	Number int32 `json:"number"`
	// StartTime is the time when the job was running. It is unset if the job was restarted before that.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// EndTime is the time when the attempt ended.
	EndTime metav1.Time `json:"endTime"`
	// Phase is the phase in which the attempt ended: Restarting if the restart ended it, or the phase of a job that had
	// ended or was suspended before it was restarted.
	Phase JobPhase `json:"phase"`
	// Failure describes the failed pod that ended the attempt. It is unset if a user restarted the job.
	// +optional
	Failure *JobFailure `json:"failure,omitempty"`
	// Message describes why the attempt ended.
	// +optional
	Message string `json:"message,omitempty"`
	// Nodes lists the nodes on which the pods were placed, sorted by name. It contains at most 100 nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Nodes []string `json:"nodes,omitempty"`
}
