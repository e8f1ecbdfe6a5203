// Package submission stores Slurm options of a batch job that its Job object does not contain. squeue, sacct and scontrol
// read them from an annotation of the Job.
//
//	In:   options
//	Out:  an annotation, and the options decoded from it
package submission

import (
	"encoding/json"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// Options holds the requested options; options that were not specified are empty.
type Options struct {
	Account string `json:"account,omitempty"`
	QOS     string `json:"qos,omitempty"`
	// Partition is the site's name for the queue if it differs from the queue's name.
	Partition string `json:"partition,omitempty"`
	Comment   string `json:"comment,omitempty"`
	WCKey     string `json:"wckey,omitempty"`
	Extra     string `json:"extra,omitempty"`
	// WorkDir, StdOut, StdErr and StdIn are paths, which may contain patterns.
	WorkDir string `json:"workDir,omitempty"`
	StdOut  string `json:"stdOut,omitempty"`
	StdErr  string `json:"stdErr,omitempty"`
	StdIn   string `json:"stdIn,omitempty"`
	// UID and GID are the numeric IDs of the user and of the user's group, and Group is the group's name, all on the
	// submitting host.
	UID   string `json:"uid,omitempty"`
	GID   string `json:"gid,omitempty"`
	Group string `json:"group,omitempty"`
	// SubmitHost is the submitting host, Command the script with its arguments, and SubmitLine the whole command
	// line.
	SubmitHost string `json:"submitHost,omitempty"`
	Command    string `json:"command,omitempty"`
	SubmitLine string `json:"submitLine,omitempty"`
	// Features, Nodes and Exclude are the values of --constraint, --nodelist and --exclude.
	Features string `json:"features,omitempty"`
	Nodes    string `json:"nodes,omitempty"`
	Exclude  string `json:"exclude,omitempty"`
	// Gres lists the generic resources of each node, such as gpu:a100:8.
	Gres string `json:"gres,omitempty"`
	// Tasks, TasksPerNode and CPUsPerTask are counts; MemPerNode and MemPerCPU are in MiB.
	Tasks        int   `json:"tasks,omitempty"`
	TasksPerNode int   `json:"tasksPerNode,omitempty"`
	CPUsPerTask  int   `json:"cpusPerTask,omitempty"`
	MemPerNode   int64 `json:"memPerNode,omitempty"`
	MemPerCPU    int64 `json:"memPerCPU,omitempty"`
	// Requeue reports whether the job is restarted after an eviction; Exclusive reports whether it requests nodes of
	// its own.
	Requeue   bool `json:"requeue,omitempty"`
	Exclusive bool `json:"exclusive,omitempty"`
	// TimeLimit is a time limit in seconds that was set while the job ran; 0 means none. It applies only while the
	// job's number of restarts is TimeLimitRestarts.
	TimeLimit         int64 `json:"timeLimit,omitempty"`
	TimeLimitRestarts int   `json:"timeLimitRestarts,omitempty"`
	// MailUser and MailType are for a notifier.
	MailUser string `json:"mailUser,omitempty"`
	MailType string `json:"mailType,omitempty"`
}

// Of returns the options of a job. They are empty if no Slurm command created the job or if the annotation is
// invalid.
func Of(job *batch.Job) Options {
	var o Options
	if text := job.Annotations[keys.Slurm]; text != "" {
		if json.Unmarshal([]byte(text), &o) != nil {
			return Options{}
		}
	}
	return o
}

// Made reports whether a Slurm command created the job.
func Made(job *batch.Job) bool { return job.Annotations[keys.Slurm] != "" }

// Write stores the options in an annotation of a job.
func Write(job *batch.Job, o Options) {
	text, err := json.Marshal(o)
	if err != nil {
		return // never happens: a struct of texts and numbers can always be encoded
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[keys.Slurm] = string(text)
}
