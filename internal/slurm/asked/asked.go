// Package asked is what a batch job asked for in Slurm's words and the Job that was made of it does not say: it is kept on the Job, so that squeue,
// sacct and scontrol can show it again.
//
//	In:   options
//	Out:  one annotation, and the options out of it again
package asked

import (
	"encoding/json"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// Options is what was asked for; empty where nothing was.
type Options struct {
	Account string `json:"account,omitempty"`
	QOS     string `json:"qos,omitempty"`
	// Partition is the site's name for the queue, where that has another name.
	Partition string `json:"partition,omitempty"`
	Comment   string `json:"comment,omitempty"`
	WCKey     string `json:"wckey,omitempty"`
	Extra     string `json:"extra,omitempty"`
	// WorkDir, StdOut, StdErr and StdIn are paths; the patterns of file names are kept as they are.
	WorkDir string `json:"workDir,omitempty"`
	StdOut  string `json:"stdOut,omitempty"`
	StdErr  string `json:"stdErr,omitempty"`
	StdIn   string `json:"stdIn,omitempty"`
	// UID and GID are the numbers of the user who submitted it and of the user's group, Group is the group's name, all as on the host where it was submitted.
	UID   string `json:"uid,omitempty"`
	GID   string `json:"gid,omitempty"`
	Group string `json:"group,omitempty"`
	// SubmitHost is where it was submitted, Command the script with its arguments, SubmitLine the whole command line.
	SubmitHost string `json:"submitHost,omitempty"`
	Command    string `json:"command,omitempty"`
	SubmitLine string `json:"submitLine,omitempty"`
	// Features, Nodes and Exclude are --constraint, --nodelist and --exclude.
	Features string `json:"features,omitempty"`
	Nodes    string `json:"nodes,omitempty"`
	Exclude  string `json:"exclude,omitempty"`
	// Gres is per node, as gpu:a100:8.
	Gres string `json:"gres,omitempty"`
	// Tasks, TasksPerNode and CPUsPerTask are counts; MemPerNode and MemPerCPU are MiB.
	Tasks        int   `json:"tasks,omitempty"`
	TasksPerNode int   `json:"tasksPerNode,omitempty"`
	CPUsPerTask  int   `json:"cpusPerTask,omitempty"`
	MemPerNode   int64 `json:"memPerNode,omitempty"`
	MemPerCPU    int64 `json:"memPerCPU,omitempty"`
	// Requeue says whether it is started again when it was evicted; Exclusive whether it wants its nodes alone.
	Requeue   bool `json:"requeue,omitempty"`
	Exclusive bool `json:"exclusive,omitempty"`
	// TimeLimit is a limit, in seconds, that was set while the job ran; 0: none. It holds as long as the job was restarted TimeLimitRestarts times.
	TimeLimit         int64 `json:"timeLimit,omitempty"`
	TimeLimitRestarts int   `json:"timeLimitRestarts,omitempty"`
	// MailUser and MailType are for a notifier.
	MailUser string `json:"mailUser,omitempty"`
	MailType string `json:"mailType,omitempty"`
}

// Of reads the options of a job. Of one that no Slurm command made, and where the annotation cannot be read, all are empty.
func Of(job *batch.Job) Options {
	var o Options
	if text := job.Annotations[keys.Slurm]; text != "" {
		if json.Unmarshal([]byte(text), &o) != nil {
			return Options{}
		}
	}
	return o
}

// Made says whether a Slurm command made the job.
func Made(job *batch.Job) bool { return job.Annotations[keys.Slurm] != "" }

// Write keeps the options on a job.
func Write(job *batch.Job, o Options) {
	text, err := json.Marshal(o)
	if err != nil {
		return // a struct of texts and numbers can always be written
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[keys.Slurm] = string(text)
}
