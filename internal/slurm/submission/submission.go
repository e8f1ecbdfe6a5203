// Package submission stores those Slurm options of a batch job that cannot be represented in its Job object. squeue,
// sacct and scontrol read the options from an annotation of the Job.
//
//	In:   options
//	Out:  an annotation; the options that it contains
package submission

import (
	"encoding/json"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// Options holds the options that were requested. Options that were not specified are empty.
type Options struct {
	Account string `json:"account,omitempty"`
	QOS     string `json:"qos,omitempty"`
	// Partition is the site's name for the queue if it differs from the queue's name.
	Partition string `json:"partition,omitempty"`
	Comment   string `json:"comment,omitempty"`
	WCKey     string `json:"wckey,omitempty"`
	Extra     string `json:"extra,omitempty"`
	// WorkDir, StdOut, StdErr and StdIn are paths that may contain patterns.
	WorkDir string `json:"workDir,omitempty"`
	StdOut  string `json:"stdOut,omitempty"`
	StdErr  string `json:"stdErr,omitempty"`
	StdIn   string `json:"stdIn,omitempty"`
	// UID and GID are the numeric IDs of the user and of the user's group, and Group is the name of the group, as
	// known on the submitting host.
	UID   string `json:"uid,omitempty"`
	GID   string `json:"gid,omitempty"`
	Group string `json:"group,omitempty"`
	// SubmitHost is the name of the submitting host, Command is the script with its arguments, and SubmitLine is the
	// complete command line.
	SubmitHost string `json:"submitHost,omitempty"`
	Command    string `json:"command,omitempty"`
	SubmitLine string `json:"submitLine,omitempty"`
	// Features, Nodes and Exclude are the values of --constraint, --nodelist and --exclude.
	Features string `json:"features,omitempty"`
	Nodes    string `json:"nodes,omitempty"`
	Exclude  string `json:"exclude,omitempty"`
	// Gres lists the generic resources of each node, such as gpu:a100:8.
	Gres string `json:"gres,omitempty"`
	// Tasks, TasksPerNode and CPUsPerTask are numbers. MemPerNode and MemPerCPU are in MiB.
	Tasks        int   `json:"tasks,omitempty"`
	TasksPerNode int   `json:"tasksPerNode,omitempty"`
	CPUsPerTask  int   `json:"cpusPerTask,omitempty"`
	MemPerNode   int64 `json:"memPerNode,omitempty"`
	MemPerCPU    int64 `json:"memPerCPU,omitempty"`
	// Requeue is true if the job is restarted after an eviction. Exclusive is true if the job requests nodes that it
	// does not share.
	Requeue   bool `json:"requeue,omitempty"`
	Exclusive bool `json:"exclusive,omitempty"`
	// TimeLimit is a time limit in seconds that was set while the job was running. 0 means that none was set. The limit
	// applies only as long as the job's number of restarts equals TimeLimitRestarts.
	TimeLimit         int64 `json:"timeLimit,omitempty"`
	TimeLimitRestarts int   `json:"timeLimitRestarts,omitempty"`
	// MailUser and MailType are intended for a mail notifier.
	MailUser string `json:"mailUser,omitempty"`
	MailType string `json:"mailType,omitempty"`
}

// OptionsOf returns the options of a job. The options are empty if the job was not created by a Slurm command, or if
// the annotation is invalid.
func OptionsOf(job *batchv1alpha1.Job) Options {
	var o Options
	if text := job.Annotations[keys.Slurm]; text != "" {
		if json.Unmarshal([]byte(text), &o) != nil {
			return Options{}
		}
	}
	return o
}

// IsFromSlurm reports whether the job was created by a Slurm command.
func IsFromSlurm(job *batchv1alpha1.Job) bool { return job.Annotations[keys.Slurm] != "" }

// StoreOptions stores the options in an annotation of a job.
func StoreOptions(job *batchv1alpha1.Job, o Options) {
	text, err := json.Marshal(o)
	if err != nil {
		return // cannot happen, because a struct of strings and numbers can always be encoded
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[keys.Slurm] = string(text)
}
