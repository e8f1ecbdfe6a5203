package step

import (
	"os"

	"github.com/vc-batch/vc/internal/slurm/launch"
)

// request opens a connection: exactly one of its parts is set.
type request struct {
	// Tasks runs tasks in this pod.
	Tasks *tasksRequest `json:"tasks,omitempty"`
	// Store takes a file into this pod, Fetch sends one of it.
	Store *fileRequest `json:"store,omitempty"`
	Fetch *fileRequest `json:"fetch,omitempty"`
	// Begin starts a step; the connection is the step's. Head only, as all that follows.
	Begin *beginRequest `json:"begin,omitempty"`
	// Attach shows what a step prints: attachAnswer, output, and the record of the step.
	Attach *attachRequest `json:"attach,omitempty"`
	// Job asks for what is known of the job: jobAnswer.
	Job bool `json:"job,omitempty"`
	// Signal sends a signal to what runs.
	Signal *signalRequest `json:"signal,omitempty"`
	// Notify is a message for the errors of the script.
	Notify string `json:"notify,omitempty"`
	// Limit is another time limit of the job, in seconds.
	Limit int64 `json:"limit,omitempty"`
	// End ends the job: requeue, cancel, or with a code.
	End *endRequest `json:"end,omitempty"`
	// Attend names the node that asks, which stays until it is answered: attendAnswer.
	Attend string `json:"attend,omitempty"`
	// Session runs as long as the connection: an interactive allocation ends with it.
	Session bool `json:"session,omitempty"`
}

// attendAnswer sends a node home.
type attendAnswer struct {
	// Late says that it came when the script ran already.
	Late bool `json:"late,omitempty"`
}

// tasksRequest are the tasks of a step in one pod.
type tasksRequest struct {
	Step int `json:"step"`
	// Dir is where they start, Env what they find beside what the container has by itself.
	Dir   string   `json:"dir,omitempty"`
	Env   []string `json:"env"`
	Tasks []task   `json:"tasks"`
	// Terminal is for task 0 only; its size is in characters.
	Terminal      bool `json:"terminal,omitempty"`
	Width, Height uint16
}

// task is one process of a step.
type task struct {
	Rank int      `json:"rank"`
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`
	// Stdin says that what is typed comes; else it is empty.
	Stdin bool `json:"stdin,omitempty"`
	// input is a file that is its input instead, in this process only.
	input *os.File
}

// ending is how a task ended.
type ending struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// Problem says why it did not start.
	Problem string `json:"problem,omitempty"`
	launch.Usage
}

// status is what a shell makes of it.
func (e ending) status() int {
	if e.Signal != 0 {
		return 128 + e.Signal
	}
	return e.Code
}

// beginRequest asks for a step. Numbers that were not given are 0.
type beginRequest struct {
	Name     string   `json:"name"`
	Nodes    int      `json:"nodes,omitempty"`
	Tasks    int      `json:"tasks,omitempty"`
	PerNode  int      `json:"perNode,omitempty"`
	CPUs     int      `json:"cpus,omitempty"`
	Only     []string `json:"only,omitempty"`
	Not      []string `json:"not,omitempty"`
	Relative int      `json:"relative,omitempty"`
	// GPUs are the accelerators that the step has to itself; nil is all that there are, shared with whoever else asks for none in particular.
	GPUs *gpuRequest `json:"gpus,omitempty"`
	// Overlap takes processors that others have, too.
	Overlap bool `json:"overlap,omitempty"`
	// Now does not wait for processors.
	Now bool `json:"now,omitempty"`
}

// gpuRequest asks for accelerators: of each task, of each node, or of the whole step. All 0 is none.
type gpuRequest struct {
	PerTask int `json:"perTask,omitempty"`
	PerNode int `json:"perNode,omitempty"`
	Total   int `json:"total,omitempty"`
	// Inherited is the job's own wish: a step for which it does not go shares what there is.
	Inherited bool `json:"inherited,omitempty"`
}

// beginAnswer is a step that was given.
type beginAnswer struct {
	Step int `json:"step"`
	// Hosts are the step's nodes, NodeIDs where they stand among the job's; Counts their tasks.
	Hosts   []string `json:"hosts"`
	NodeIDs []int    `json:"nodeIDs"`
	Counts  []int    `json:"counts"`
	CPUs    int      `json:"cpus"`
	// GPUs are the accelerators of each of the nodes that the step has to itself, by their numbers in the pod; nil when it asked for none in particular.
	GPUs [][]int `json:"gpus,omitempty"`
}

// jobAnswer is what is known of the job.
type jobAnswer struct {
	Spec  launch.Spec `json:"spec"`
	Pod   launch.Pod  `json:"pod"`
	Hosts []string    `json:"hosts"`
	Start int64       `json:"start"`
	// Container is what head's container has as environment by itself, Script what the script was given.
	Container []string      `json:"container"`
	Script    []string      `json:"script"`
	Steps     []launch.Step `json:"steps"`
}

// signalRequest chooses what gets a signal.
type signalRequest struct {
	Number int `json:"number"`
	// Batch is the script, Steps all steps; Step one of them, -1 for none in particular.
	Batch bool `json:"batch,omitempty"`
	Steps bool `json:"steps,omitempty"`
	Step  int  `json:"step"`
	// Now sends it before the answer: the process that asks is none of those that receive it.
	Now bool `json:"now,omitempty"`
}

// endRequest ends the job, now or, where it says so, with its interactive session.
type endRequest struct {
	Requeue bool `json:"requeue,omitempty"`
	Cancel  bool `json:"cancel,omitempty"`
	Code    int  `json:"code,omitempty"`
	// Leave tells the code that counts when the session is gone.
	Leave bool `json:"leave,omitempty"`
}
