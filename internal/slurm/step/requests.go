package step

import (
	"os"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// request is the first message of a connection. Exactly one of its fields is set.
type request struct {
	// Tasks runs tasks in this pod.
	Tasks *tasksRequest `json:"tasks,omitempty"`
	// Store writes a file to this pod; Fetch reads a file from it.
	Store *fileRequest `json:"store,omitempty"`
	Fetch *fileRequest `json:"fetch,omitempty"`
	// Begin starts a step, which lives as long as the connection. Only the head answers this and all following
	// requests.
	Begin *beginRequest `json:"begin,omitempty"`
	// Attach requests the output of a step: an attachAnswer, the output, and the record of the step.
	Attach *attachRequest `json:"attach,omitempty"`
	// Job requests the description of the job: a jobAnswer.
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
	// Late reports that the node connected after the script had started without it.
	Late bool `json:"late,omitempty"`
}

// tasksRequest lists the tasks of a step in one pod.
type tasksRequest struct {
	Step int `json:"step"`
	// Dir is the working directory of the tasks; Env holds the variables that are added to the container's
	// environment.
	Dir   string   `json:"dir,omitempty"`
	Env   []string `json:"env"`
	Tasks []task   `json:"tasks"`
	// Terminal requests a terminal for task 0; its width and height are in characters.
	Terminal      bool `json:"terminal,omitempty"`
	Width, Height uint16
}

// task is one process of a step.
type task struct {
	Rank int      `json:"rank"`
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`
	// Stdin reports whether the task receives srun's input; otherwise its input is empty.
	Stdin bool `json:"stdin,omitempty"`
	// input is a file that replaces the input. It is never sent to another process.
	input *os.File
}

// ending describes how a task ended.
type ending struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Problem is the reason why the task could not be started.
	Problem string `json:"problem,omitempty"`
	launchconfig.Usage
}

// status returns the exit code that a shell reports for the ending.
func (e ending) status() int {
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
	// GPUs requests accelerators for the step alone. If it is nil, the step shares all accelerators with other steps
	// that request none.
	GPUs *gpuRequest `json:"gpus,omitempty"`
	// Overlap permits the use of processors that other steps use.
	Overlap bool `json:"overlap,omitempty"`
	// Now rejects the step instead of waiting for processors.
	Now bool `json:"now,omitempty"`
}

// gpuRequest is a number of accelerators for each task, for each node or for the whole step. If all numbers are 0,
// the step has no accelerators.
type gpuRequest struct {
	PerTask int `json:"perTask,omitempty"`
	PerNode int `json:"perNode,omitempty"`
	Total   int `json:"total,omitempty"`
	// Inherited marks a request that comes from the job. A step whose nodes cannot satisfy it shares the accelerators
	// instead.
	Inherited bool `json:"inherited,omitempty"`
}

// beginAnswer describes a step that was started.
type beginAnswer struct {
	Step int `json:"step"`
	// Hosts are the step's nodes, NodeIDs their indexes among the job's nodes, and Counts their numbers of tasks.
	Hosts   []string `json:"hosts"`
	NodeIDs []int    `json:"nodeIDs"`
	Counts  []int    `json:"counts"`
	CPUs    int      `json:"cpus"`
	// GPUs lists the numbers of the step's own accelerators in each of its pods; it is nil if the step did not
	// request any.
	GPUs [][]int `json:"gpus,omitempty"`
}

// jobAnswer describes the job.
type jobAnswer struct {
	Spec  launchconfig.Spec `json:"spec"`
	Pod   launchconfig.Pod  `json:"pod"`
	Hosts []string          `json:"hosts"`
	Start int64             `json:"start"`
	// Container is the environment of the head's container; Script is the environment of the script.
	Container []string            `json:"container"`
	Script    []string            `json:"script"`
	Steps     []launchconfig.Step `json:"steps"`
}

// signalRequest selects the processes that receive a signal.
type signalRequest struct {
	Number int `json:"number"`
	// Batch selects the script, Steps selects all steps, and Step selects one step; Step is -1 if no single step is
	// selected.
	Batch bool `json:"batch,omitempty"`
	Steps bool `json:"steps,omitempty"`
	Step  int  `json:"step"`
	// Now sends the signal before the answer. It is set if the process that sends the request does not receive the
	// signal.
	Now bool `json:"now,omitempty"`
}

// endRequest ends the job at once or, with Leave, when its interactive session ends.
type endRequest struct {
	Requeue bool `json:"requeue,omitempty"`
	Cancel  bool `json:"cancel,omitempty"`
	Code    int  `json:"code,omitempty"`
	// Leave sets the exit code for the end of the session.
	Leave bool `json:"leave,omitempty"`
}
