package launchconfig

import (
	"strconv"
	"strings"
	"time"
)

// Paths inside the pod.
const (
	// SpecDir holds the job's ConfigMap, with the keys ScriptKey and SpecKey.
	SpecDir = "/etc/vc-slurm"
	// SecretDir holds the job's Secret, with the keys StepKey and EnvironmentKey.
	SecretDir = "/etc/vc-slurm-secret"
	// ToolsDir is an emptyDir volume of the pod. Its directory bin contains programs, and run contains temporary files.
	ToolsDir = "/opt/vc"
	// Program is the path of vc-step.
	Program = ToolsDir + "/bin/vc-step"
)

// Names of the volumes that are mounted at these directories.
const (
	ToolsVolume  = "vc-slurm-tools"
	JobVolume    = "vc-slurm-job"
	SecretVolume = "vc-slurm-secret"
)

// Keys of the ConfigMap and of the Secret.
const (
	ScriptKey = "script"
	SpecKey   = "spec.json"
	// StepKey is the key of 32 random bytes, written in hexadecimal, with which the pods of a job authenticate each
	// other.
	StepKey = "key"
	// EnvironmentKey is the key of the exported variables, which have the form NAME=value and are each followed by a
	// NUL byte. The key may be missing.
	EnvironmentKey = "environment"
)

// Exit codes of the head's container that are not exit codes of the script.
const (
	// ExitRequeue requests that the job be started again from the beginning.
	ExitRequeue = 234
	// ExitCancelled reports that the job was cancelled from inside the job.
	ExitCancelled = 235
)

const (
	// KillWait is the time that the script and the steps get to end when the job is stopped, as in Slurm.
	KillWait = 30 * time.Second
	// GraceSeconds is the termination grace period of the pod. It is longer than KillWait, so that the launcher can
	// kill remaining processes and write the Report.
	GraceSeconds = int64(KillWait/time.Second) + 15
)

// Names of the job's tasks. An array has only one task.
const (
	HeadTask = "head"
	NodeTask = "node"
)

// Spec specifies the job for the launcher. Numbers that the user did not specify are 0.
type Spec struct {
	JobName   string `json:"jobName"`
	Partition string `json:"partition"`
	Account   string `json:"account,omitempty"`
	QOS       string `json:"qos,omitempty"`
	User      string `json:"user"`
	Cluster   string `json:"cluster,omitempty"`

	// Nodes is the maximum number of pods in the allocation or, for an array, in the allocation of each element.
	// MinNodes is the minimum number. 0 means all of them.
	Nodes    int `json:"nodes"`
	MinNodes int `json:"minNodes,omitempty"`
	// Tasks is the number of tasks that srun starts, either specified or derived from other options. 0 means one task
	// per node.
	Tasks int `json:"tasks,omitempty"`
	// TasksGiven is true if -n or one of the --ntasks-per-* options was specified. The number of tasks is then part
	// of the script's environment.
	TasksGiven   bool `json:"tasksGiven,omitempty"`
	TasksPerNode int  `json:"tasksPerNode,omitempty"`
	CPUsPerTask  int  `json:"cpusPerTask,omitempty"`
	// CPUs is the number of processors of each pod.
	CPUs int `json:"cpus"`
	// Exclusive is true if each pod has a node to itself and uses all its processors, of which there are at least CPUs.
	Exclusive bool `json:"exclusive,omitempty"`
	// MemPerNode and MemPerCPU are the requested memory in MiB. At most one of them is set.
	MemPerNode int64 `json:"memPerNode,omitempty"`
	MemPerCPU  int64 `json:"memPerCPU,omitempty"`
	MemPerGPU  int64 `json:"memPerGPU,omitempty"`
	// GPUs, GPUsPerNode and GPUsPerTask are the requested numbers, together with a type if one was requested
	// (a100:8). GPUsOnNode is the number of GPUs in each pod.
	GPUs        string `json:"gpus,omitempty"`
	GPUsPerNode string `json:"gpusPerNode,omitempty"`
	GPUsPerTask string `json:"gpusPerTask,omitempty"`
	GPUsOnNode  int    `json:"gpusOnNode,omitempty"`

	// Output, Error and Input are patterns for the absolute names of files on volumes. If a name is missing, the
	// output goes only to the pod's log, and the input is /dev/null. If only Error is missing, error output goes to
	// Output.
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
	Input  string `json:"input,omitempty"`
	// Append preserves the content of existing output files (--open-mode=append), including output from before a
	// requeue.
	Append bool `json:"append,omitempty"`
	// WorkDir is the working directory of the script. If it is empty, the container's own directory is used.
	WorkDir    string `json:"workDir,omitempty"`
	SubmitDir  string `json:"submitDir,omitempty"`
	SubmitHost string `json:"submitHost,omitempty"`
	// TimeLimit is in seconds. 0 means no limit.
	TimeLimit int64   `json:"timeLimit,omitempty"`
	Signal    *Signal `json:"signal,omitempty"`
	Array     *Array  `json:"array,omitempty"`

	Dependency   string `json:"dependency,omitempty"`
	ExportEnv    string `json:"exportEnv,omitempty"`
	Distribution string `json:"distribution,omitempty"`

	// NoRequeue prevents the job from being restarted (--no-requeue).
	NoRequeue bool `json:"noRequeue,omitempty"`
	// Command is the absolute path of the script on the submitting machine. It is "" if the script is the command
	// line of --wrap or was read from standard input.
	Command string `json:"command,omitempty"`
	// ServiceAccount is the service account of the pods, if it has access to the cluster. Program is the path of
	// vcctl on nodes that share the files of the submitting machine.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	Program        string `json:"program,omitempty"`
	// Args are the arguments of the script.
	Args []string `json:"args,omitempty"`
	// Interactive marks an allocation without a script, which was created by salloc or by srun outside a job. Its
	// launcher waits for requests.
	Interactive bool `json:"interactive,omitempty"`
}

// Signal is the signal requested by --signal, which is sent some seconds before the time limit.
type Signal struct {
	Number  int   `json:"number"`
	Seconds int64 `json:"seconds"`
	// Batch sends the signal only to the script. Otherwise, the signal is sent to the steps.
	Batch bool `json:"batch,omitempty"`
}

// Array describes the array to which an element belongs.
type Array struct {
	Count int `json:"count"`
	Min   int `json:"min"`
	Max   int `json:"max"`
	Step  int `json:"step"`
	// Elements lists the indices, such as 0-3,7,9, in the order of the pods. If the job controller does not set the
	// index of a pod, the pod determines its index from this list.
	Elements string `json:"elements,omitempty"`
}

// ElementIndex returns the nth index, counting from 0. ok is false if there are too few indices.
func (a *Array) ElementIndex(n int) (index int, ok bool) {
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

// DefaultTaskCount returns the number of tasks that srun starts by default on the given number of nodes.
func (s *Spec) DefaultTaskCount(nodes int) int {
	switch {
	case s.TasksPerNode > 0 && (s.Tasks == 0 || nodes < s.Nodes):
		return s.TasksPerNode * nodes
	case s.Tasks > 0:
		return s.Tasks
	}
	return nodes
}
