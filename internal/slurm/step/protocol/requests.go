package protocol

import (
	"io/fs"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Request is the first message on a connection. Exactly one of its fields is set.
type Request struct {
	// Tasks runs tasks in this pod.
	Tasks *TasksRequest `json:"tasks,omitempty"`
	// Store requests writing a file to this pod. Fetch requests reading a file from it.
	Store *FileRequest `json:"store,omitempty"`
	Fetch *FileRequest `json:"fetch,omitempty"`
	// Begin starts a step, which exists as long as the connection. Only the head handles this request and the following
	// ones.
	Begin *BeginRequest `json:"begin,omitempty"`
	// Attach requests the output of a step. The response consists of an AttachAnswer, the output, and the record of
	// the step.
	Attach *AttachRequest `json:"attach,omitempty"`
	// Job requests the description of the job. The response is a JobAnswer.
	Job bool `json:"job,omitempty"`
	// Signal sends a signal to the script or to steps.
	Signal *SignalRequest `json:"signal,omitempty"`
	// Notify is a message for the script's error output.
	Notify string `json:"notify,omitempty"`
	// Limit sets the job's time limit, in seconds.
	Limit int64 `json:"limit,omitempty"`
	// End ends the job by requeueing or cancelling it, or with an exit code.
	End *EndRequest `json:"end,omitempty"`
	// Attend is the name of a node that stays connected until it receives an AttendAnswer.
	Attend string `json:"attend,omitempty"`
	// Session marks an interactive session, which lasts as long as the connection. An interactive allocation ends when
	// its last session ends.
	Session bool `json:"session,omitempty"`
}

// AttendAnswer dismisses a node.
type AttendAnswer struct {
	// Late is true if the node connected after the script had started without it.
	Late bool `json:"late,omitempty"`
}

// TasksRequest lists the tasks of a step in a pod.
type TasksRequest struct {
	Step int `json:"step"`
	// Dir is the working directory of the tasks. Env holds the variables that are added to the container's
	// environment.
	Dir   string   `json:"dir,omitempty"`
	Env   []string `json:"env"`
	Tasks []Task   `json:"tasks"`
	// Terminal requests a terminal for task 0. Its width and height are in characters.
	Terminal      bool `json:"terminal,omitempty"`
	Width, Height uint16
}

// Task is a process of a step.
type Task struct {
	Rank int      `json:"rank"`
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`
	// Stdin is true if the task receives srun's input. Otherwise, its input is empty.
	Stdin bool `json:"stdin,omitempty"`
}

// Ending describes how a task ended.
type Ending struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Problem is the reason why the task could not be started.
	Problem string `json:"problem,omitempty"`
	launchconfig.Usage
}

// ShellStatus returns the exit code that a shell reports for such an end.
func (e Ending) ShellStatus() int {
	if e.Signal != 0 {
		return 128 + e.Signal
	}
	return e.Code
}

// BeginRequest requests a step. Numbers that the user did not specify are 0.
type BeginRequest struct {
	Name     string   `json:"name"`
	Nodes    int      `json:"nodes,omitempty"`
	Tasks    int      `json:"tasks,omitempty"`
	PerNode  int      `json:"perNode,omitempty"`
	CPUs     int      `json:"cpus,omitempty"`
	Only     []string `json:"only,omitempty"`
	Not      []string `json:"not,omitempty"`
	Relative int      `json:"relative,omitempty"`
	// GPUs requests accelerators that only this step uses. If it is nil, the step uses all accelerators together with
	// the other steps that do not request any.
	GPUs *GPURequest `json:"gpus,omitempty"`
	// Overlap permits the step to use processors that other steps use.
	Overlap bool `json:"overlap,omitempty"`
	// Now requests that the step be rejected if it would have to wait for processors.
	Now bool `json:"now,omitempty"`
}

// GPURequest is a number of accelerators per task, per node, or for the whole step. If all numbers are 0, the step has
// no accelerators.
type GPURequest struct {
	PerTask int `json:"perTask,omitempty"`
	PerNode int `json:"perNode,omitempty"`
	Total   int `json:"total,omitempty"`
	// Inherited is true if the request comes from the job. If the step's nodes cannot satisfy an inherited request, the
	// step uses the accelerators together with other steps instead.
	Inherited bool `json:"inherited,omitempty"`
}

// BeginAnswer describes a step that has been started.
type BeginAnswer struct {
	Step int `json:"step"`
	// Hosts holds the step's nodes, NodeIDs their indexes among the job's nodes, and Counts the number of tasks on
	// each.
	Hosts   []string `json:"hosts"`
	NodeIDs []int    `json:"nodeIDs"`
	Counts  []int    `json:"counts"`
	CPUs    int      `json:"cpus"`
	// GPUs holds, for each pod, the numbers of the accelerators that only this step uses. It is nil if the step did not
	// request any.
	GPUs [][]int `json:"gpus,omitempty"`
}

// JobAnswer describes the job.
type JobAnswer struct {
	Spec  launchconfig.Spec `json:"spec"`
	Pod   launchconfig.Pod  `json:"pod"`
	Hosts []string          `json:"hosts"`
	Start int64             `json:"start"`
	// Container is the environment of the head's container, and Script is the environment of the script.
	Container []string            `json:"container"`
	Script    []string            `json:"script"`
	Steps     []launchconfig.Step `json:"steps"`
}

// SignalRequest selects the processes that receive a signal.
type SignalRequest struct {
	Number int `json:"number"`
	// Batch selects the script, Steps selects all steps, and Step selects a single step. Step is -1 if no single step
	// is selected.
	Batch bool `json:"batch,omitempty"`
	Steps bool `json:"steps,omitempty"`
	Step  int  `json:"step"`
	// Now requests that the signal be sent before the response. It is set if the signal cannot reach the process that
	// is waiting for the response.
	Now bool `json:"now,omitempty"`
}

// EndRequest ends the job immediately or, if Leave is true, when its interactive session ends.
type EndRequest struct {
	Requeue bool `json:"requeue,omitempty"`
	Cancel  bool `json:"cancel,omitempty"`
	Code    int  `json:"code,omitempty"`
	// Leave requests that only the exit code for the end of the session be set.
	Leave bool `json:"leave,omitempty"`
}

// AttachRequest requests the output of a running step.
type AttachRequest struct {
	Step int `json:"step"`
}

// AttachAnswer is the layout of a step. When the step ends, the record of the step follows as a second response.
type AttachAnswer struct {
	Hosts  []string `json:"hosts"`
	Counts []int    `json:"counts"`
}

// FileRequest requests that a file be copied to or from a pod.
type FileRequest struct {
	Path string `json:"path"`
	// Force permits replacing an existing file. It applies only to copies to the pod.
	Force bool `json:"force,omitempty"`
	// Stamp holds the mode and times of the source. It applies only to copies to the pod.
	Stamp FileStamp `json:"stamp"`
	// Remove requests that the file be removed after the peer has received it. It applies only to copies from the pod.
	Remove bool `json:"remove,omitempty"`
	// Tree permits copying a directory, which is sent as an archive. It applies only to copies from the pod.
	Tree bool `json:"tree,omitempty"`
}

// FileStamp holds the attributes of a file that a copy preserves.
type FileStamp struct {
	Mode fs.FileMode `json:"mode"`
	// Accessed and Modified are in nanoseconds since the epoch. 0 leaves the times of the copy unchanged.
	Accessed int64 `json:"accessed,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}
