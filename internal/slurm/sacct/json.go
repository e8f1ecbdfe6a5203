package sacct

import (
	"strconv"
	"time"

	"github.com/vc-batch/vc/internal/slurm/squeue"
)

// Document is the output of --json.
type Document struct {
	Jobs     []Job       `json:"jobs"`
	Meta     squeue.Meta `json:"meta"`
	Errors   []string    `json:"errors"`
	Warnings []string    `json:"warnings"`
}

// Job is a job with its steps.
type Job struct {
	Account   string `json:"account"`
	Cluster   string `json:"cluster"`
	ExitCode  string `json:"exit_code"`
	JobID     int64  `json:"job_id"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Nodes     string `json:"nodes"`
	Partition string `json:"partition"`
	QOS       string `json:"qos"`
	State     struct {
		Current []string `json:"current"`
		Reason  string   `json:"reason"`
	} `json:"state"`
	Steps []Step `json:"steps"`
	Time  Time   `json:"time"`
	User  string `json:"user"`
}

// Step is the batch script, or a step started by srun.
type Step struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	ExitCode string   `json:"exit_code"`
	State    []string `json:"state"`
	Nodes    string   `json:"nodes"`
	Tasks    int      `json:"tasks"`
	Time     Time     `json:"time"`
}

// Time holds times in seconds since the epoch. Unknown times are 0. Elapsed is a duration in seconds.
type Time struct {
	Submission int64 `json:"submission,omitempty"`
	Eligible   int64 `json:"eligible,omitempty"`
	Start      int64 `json:"start"`
	End        int64 `json:"end"`
	Elapsed    int64 `json:"elapsed"`
}

// NewDocument returns the document for the given lines.
func NewDocument(lines []*Line, command []string, version string) Document {
	d := Document{Jobs: []Job{}, Errors: []string{}, Warnings: []string{},
		Meta: squeue.Meta{Plugin: map[string]string{"type": "openapi/vc"}, Command: command, Slurm: map[string]string{"release": version}}}
	for _, l := range lines {
		if l.IsJob() {
			d.Jobs = append(d.Jobs, newJob(l))
			continue
		}
		if n := len(d.Jobs); n > 0 {
			d.Jobs[n-1].Steps = append(d.Jobs[n-1].Steps, Step{ID: withStepSuffix(l.DisplayID(-1), l), Name: l.Label, ExitCode: l.Ended.String(), State: []string{l.Code.LongName()}, Nodes: l.Nodes,
				Tasks: l.Tasks, Time: l.newTime()})
		}
	}
	return d
}

func newJob(l *Line) Job {
	j := Job{Account: l.AccountName(), Cluster: l.Cluster, ExitCode: l.Ended.String(), ID: l.DisplayID(-1), Name: l.JobTitle(), Namespace: l.Job.Namespace, Nodes: l.Nodes, Partition: l.PartitionName(), QOS: l.QOSName(),
		Steps: []Step{}, Time: l.newTime(), User: l.UserName()}
	j.JobID, _ = strconv.ParseInt(l.RawID(), 10, 64)
	j.State.Current, j.State.Reason = []string{l.Code.LongName()}, l.State.Reason
	j.Time.Submission, j.Time.Eligible = l.Times.Submit.Unix(), l.Times.Eligible.Unix()
	return j
}

func (l *Line) newTime() Time {
	return Time{Start: unixTime(l.Start), End: unixTime(l.End), Elapsed: int64(l.ElapsedTime() / time.Second)}
}

// LimitToWindow limits the start and the end of the line to a window.
func (l *Line) LimitToWindow(w Window) {
	if !l.Start.IsZero() && l.Start.Before(w.From) {
		l.Start = w.From
	}
	if !l.Start.IsZero() && (l.End.IsZero() || l.End.After(w.To)) {
		l.End = w.To
	}
}
