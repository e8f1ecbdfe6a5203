package step

import (
	"io/fs"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// request is the first message on a connection. Exactly one of its fields is set.
type request struct {
	// Tasks runs tasks in this pod.
	Tasks *tasksRequest `json:"tasks,omitempty"`
	// Store writes a file to this pod. Fetch reads a file from it.
	Store *fileRequest `json:"store,omitempty"`
	Fetch *fileRequest `json:"fetch,omitempty"`
	// Begin starts a step, which lives as long as the connection. Only the head handles this request and the
	// following ones.
	Begin *beginRequest `json:"begin,omitempty"`
	// Attach requests the output of a step. The response consists of an attachAnswer, the output, and the record of
	// the step.
	Attach *attachRequest `json:"attach,omitempty"`
	// Job requests the description of the job, a jobAnswer.
	Job bool `json:"job,omitempty"`
	// Signal sends a signal to the script or to steps.
	Signal *signalRequest `json:"signal,omitempty"`
	// Notify is a message for the script's error output.
	Notify string `json:"notify,omitempty"`
	// Limit sets the job's time limit, in seconds.
	Limit int64 `json:"limit,omitempty"`
	// End ends the job by requeueing or cancelling it, or with an exit code.
	End *endRequest `json:"end,omitempty"`
	// Attend is the name of a node that stays connected until it receives an attendAnswer.
	Attend string `json:"attend,omitempty"`
	// Session marks an interactive session, which lasts as long as the connection. An interactive allocation ends
	// with its last session.
	Session bool `json:"session,omitempty"`
}

// attendAnswer dismisses a node.
type attendAnswer struct {
	// Late is true if the node connected after the script had started without it.
	Late bool `json:"late,omitempty"`
}

// tasksRequest lists the tasks of a step in a pod.
type tasksRequest struct {
	Step int `json:"step"`
	// Dir is the working directory of the tasks. Env holds the variables that are added to the container's
	// environment.
	Dir   string   `json:"dir,omitempty"`
	Env   []string `json:"env"`
	Tasks []task   `json:"tasks"`
	// Terminal requests a terminal for task 0. Its width and height are in characters.
	Terminal      bool `json:"terminal,omitempty"`
	Width, Height uint16
}

// task is a process of a step.
type task struct {
	Rank int      `json:"rank"`
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`
	// Stdin is true if the task receives srun's input; otherwise, its input is empty.
	Stdin bool `json:"stdin,omitempty"`
}

// ending describes how a task ended.
type ending struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Problem is the reason why the task could not be started.
	Problem string `json:"problem,omitempty"`
	launchconfig.Usage
}

// shellStatus returns the exit code that a shell reports for the ending.
func (e ending) shellStatus() int {
	if e.Signal != 0 {
		return 128 + e.Signal
	}
	return e.Code
}

// beginRequest requests a step. Numbers that the user did not specify are 0.
type beginRequest struct {
	Name     string   `json:"name"`
	Nodes    int      `json:"nodes,omitempty"`
	Tasks    int      `json:"tasks,omitempty"`
	PerNode  int      `json:"perNode,omitempty"`
	CPUs     int      `json:"cpus,omitempty"`
	Only     []string `json:"only,omitempty"`
	Not      []string `json:"not,omitempty"`
	Relative int      `json:"relative,omitempty"`
	// GPUs requests accelerators only for this step. If it is nil, the step shares all accelerators with the other
	// steps that do not request any.
	GPUs *gpuRequest `json:"gpus,omitempty"`
	// Overlap permits the step to use processors that other steps use.
	Overlap bool `json:"overlap,omitempty"`
	// Now rejects the step if it would have to wait for processors.
	Now bool `json:"now,omitempty"`
}

// gpuRequest is a number of accelerators per task, per node, or for the whole step. If all numbers are 0, the step
// has no accelerators.
type gpuRequest struct {
	PerTask int `json:"perTask,omitempty"`
	PerNode int `json:"perNode,omitempty"`
	Total   int `json:"total,omitempty"`
	// Inherited is true if the request comes from the job. If the nodes of the step cannot satisfy it, the step
	// shares the accelerators instead.
	Inherited bool `json:"inherited,omitempty"`
}

// beginAnswer describes a step that was started.
type beginAnswer struct {
	Step int `json:"step"`
	// Hosts holds the step's nodes, NodeIDs their indexes among the job's nodes, and Counts their numbers of tasks.
	Hosts   []string `json:"hosts"`
	NodeIDs []int    `json:"nodeIDs"`
	Counts  []int    `json:"counts"`
	CPUs    int      `json:"cpus"`
	// GPUs holds, for each pod, the numbers of the accelerators that belong only to the step; it is nil if the step
	// did not request any.
	GPUs [][]int `json:"gpus,omitempty"`
}

// jobAnswer describes the job.
type jobAnswer struct {
	Spec  launchconfig.Spec `json:"spec"`
	Pod   launchconfig.Pod  `json:"pod"`
	Hosts []string          `json:"hosts"`
	Start int64             `json:"start"`
	// Container is the environment of the head's container, and Script is the environment of the script.
	Container []string            `json:"container"`
	Script    []string            `json:"script"`
	Steps     []launchconfig.Step `json:"steps"`
}

// signalRequest selects the processes that receive a signal.
type signalRequest struct {
	Number int `json:"number"`
	// Batch selects the script, Steps selects all steps, and Step selects a single step. Step is -1 if no single step
	// is selected.
	Batch bool `json:"batch,omitempty"`
	Steps bool `json:"steps,omitempty"`
	Step  int  `json:"step"`
	// Now requests that the signal is sent before the response. It is set if the signal does not reach the process that
	// waits for the response.
	Now bool `json:"now,omitempty"`
}

// endRequest ends the job immediately or, if Leave is true, when its interactive session ends.
type endRequest struct {
	Requeue bool `json:"requeue,omitempty"`
	Cancel  bool `json:"cancel,omitempty"`
	Code    int  `json:"code,omitempty"`
	// Leave sets the exit code for the end of the session.
	Leave bool `json:"leave,omitempty"`
}

// attachRequest requests the output of a running step.
type attachRequest struct {
	Step int `json:"step"`
}

// attachAnswer is the layout of a step. When the step ends, its record follows as a second response.
type attachAnswer struct {
	Hosts  []string `json:"hosts"`
	Counts []int    `json:"counts"`
}

// fileRequest requests copying a file to or from a pod.
type fileRequest struct {
	Path string `json:"path"`
	// Force replaces an existing file. It applies only to copies to the pod.
	Force bool `json:"force,omitempty"`
	// Stamp holds the mode and times of the source. It applies only to copies to the pod.
	Stamp fileStamp `json:"stamp"`
	// Remove removes the file after the peer has received it. It applies only to copies from the pod.
	Remove bool `json:"remove,omitempty"`
	// Tree permits a directory, which is sent as an archive. It applies only to copies from the pod.
	Tree bool `json:"tree,omitempty"`
}

// fileStamp holds the attributes of a file that a copy preserves.
type fileStamp struct {
	Mode fs.FileMode `json:"mode"`
	// Accessed and Modified are in nanoseconds since the epoch; 0 leaves the times of the copy unchanged.
	Accessed int64 `json:"accessed,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}
