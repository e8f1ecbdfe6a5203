package launch

import (
	"strconv"
	"strings"
	"time"
)

// Where things are inside the pod.
const (
	// SpecDir holds the job's ConfigMap, with the keys ScriptKey and SpecKey.
	SpecDir = "/etc/vc-slurm"
	// SecretDir holds the job's Secret, with the keys StepKey and EnvironmentKey.
	SecretDir = "/etc/vc-slurm-secret"
	// ToolsDir is an empty directory of the pod: programs in its bin, what is of the moment in its run.
	ToolsDir = "/opt/vc"
	// Program is the helper.
	Program = ToolsDir + "/bin/vc-step"
)

// The volumes that those directories are.
const (
	ToolsVolume  = "vc-slurm-tools"
	JobVolume    = "vc-slurm-job"
	SecretVolume = "vc-slurm-secret"
)

// The keys of the ConfigMap and of the Secret.
const (
	ScriptKey = "script"
	SpecKey   = "spec.json"
	// StepKey is 32 random bytes in hexadecimal digits, with which the pods of a job know each other.
	StepKey = "key"
	// EnvironmentKey are the exported variables, NAME=value, each followed by a NUL byte. It may be absent.
	EnvironmentKey = "environment"
)

// Exit codes of the head's container that are no codes of the script's.
const (
	// ExitRequeue asks for the job to be run again from the beginning.
	ExitRequeue = 234
	// ExitCancelled says that the job was cancelled from inside.
	ExitCancelled = 235
)

const (
	// KillWait is how long script and steps have to end when the job is stopped, as in Slurm.
	KillWait = 30 * time.Second
	// GraceSeconds is how long the pod has: longer, so that what did not end in time can be killed and the Report be written.
	GraceSeconds = int64(KillWait/time.Second) + 15
)

// Tasks of the job, unless it is an array, which has one task only.
const (
	HeadTask = "head"
	NodeTask = "node"
)

// Spec is what the launcher has to know beside the pod itself. Numbers that were not given are 0.
type Spec struct {
	JobName   string `json:"jobName"`
	Partition string `json:"partition"`
	Account   string `json:"account,omitempty"`
	QOS       string `json:"qos,omitempty"`
	User      string `json:"user"`
	Cluster   string `json:"cluster,omitempty"`

	// Nodes is how many pods the allocation has (of an array: each element), at most; MinNodes how many are enough, 0: all.
	Nodes    int `json:"nodes"`
	MinNodes int `json:"minNodes,omitempty"`
	// Tasks is the number of tasks that srun starts, as given with -n or as it follows; 0: one a node.
	Tasks int `json:"tasks,omitempty"`
	// TasksGiven says that -n or one of --ntasks-per-* was given, so that the script is told.
	TasksGiven   bool `json:"tasksGiven,omitempty"`
	TasksPerNode int  `json:"tasksPerNode,omitempty"`
	CPUsPerTask  int  `json:"cpusPerTask,omitempty"`
	// CPUs is the number of processors of each pod.
	CPUs int `json:"cpus"`
	// Exclusive says that each pod has its node to itself, and all its processors, which are CPUs or more.
	Exclusive bool `json:"exclusive,omitempty"`
	// Memory in MiB, as it was asked for; at most one of them.
	MemPerNode int64 `json:"memPerNode,omitempty"`
	MemPerCPU  int64 `json:"memPerCPU,omitempty"`
	MemPerGPU  int64 `json:"memPerGPU,omitempty"`
	// GPUs, GPUsPerNode and GPUsPerTask are as asked for, with a type (a100:8) where one was; GPUsOnNode is the number of each pod.
	GPUs        string `json:"gpus,omitempty"`
	GPUsPerNode string `json:"gpusPerNode,omitempty"`
	GPUsPerTask string `json:"gpusPerTask,omitempty"`
	GPUsOnNode  int    `json:"gpusOnNode,omitempty"`

	// Output, Error and Input are patterns of absolute names on volumes; "" is the pod's log alone (Input: /dev/null). Error "" follows Output.
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
	Input  string `json:"input,omitempty"`
	// Append keeps what is in those files (--open-mode=append), also what was written before a requeue.
	Append bool `json:"append,omitempty"`
	// WorkDir is where the script starts; "" is the container's own directory.
	WorkDir    string `json:"workDir,omitempty"`
	SubmitDir  string `json:"submitDir,omitempty"`
	SubmitHost string `json:"submitHost,omitempty"`
	// TimeLimit in seconds; 0 is none.
	TimeLimit int64   `json:"timeLimit,omitempty"`
	Signal    *Signal `json:"signal,omitempty"`
	Array     *Array  `json:"array,omitempty"`

	Dependency   string `json:"dependency,omitempty"`
	ExportEnv    string `json:"exportEnv,omitempty"`
	Distribution string `json:"distribution,omitempty"`

	// NoRequeue says that the job is never run again (--no-requeue).
	NoRequeue bool `json:"noRequeue,omitempty"`
	// Command is the absolute path of the script where it was submitted; "" for a command line of --wrap or standard input.
	Command string `json:"command,omitempty"`
	// ServiceAccount is the one that the pods run as if it has rights in the cluster. Program is vcctl, on nodes that show the files of the machine where
	// the job was submitted.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	Program        string `json:"program,omitempty"`
	// Args follow the script.
	Args []string `json:"args,omitempty"`
	// Interactive is an allocation without a script, of salloc and of srun outside a job: the launcher waits to be told.
	Interactive bool `json:"interactive,omitempty"`
}

// Signal is --signal: what is sent some time before the time limit.
type Signal struct {
	Number  int   `json:"number"`
	Seconds int64 `json:"seconds"`
	// Batch sends it to the script alone, otherwise it goes to the steps.
	Batch bool `json:"batch,omitempty"`
}

// Array is what an element knows of its array.
type Array struct {
	Count int `json:"count"`
	Min   int `json:"min"`
	Max   int `json:"max"`
	Step  int `json:"step"`
	// Elements are the indices, as 0-3,7,9, in the order of the pods: where the job controller knows nothing of elements, a pod finds its own there.
	Elements string `json:"elements,omitempty"`
}

// Element is the nth index, the first at 0; ok is false when there are not so many.
func (a *Array) Element(n int) (index int, ok bool) {
	for part := range strings.SplitSeq(a.Elements, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil {
			return 0, false
		}
		if n <= last-first {
			return first + n, n >= 0
		}
		n -= last - first + 1
	}
	return 0, false
}

// TasksOf is how many tasks srun starts on that many nodes when it is told nothing.
func (s *Spec) TasksOf(nodes int) int {
	switch {
	case s.TasksPerNode > 0 && (s.Tasks == 0 || nodes < s.Nodes):
		return s.TasksPerNode * nodes
	case s.Tasks > 0:
		return s.Tasks
	}
	return nodes
}
