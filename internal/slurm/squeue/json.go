package squeue

import (
	"cmp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Number is a number in Slurm's JSON, which may be missing or infinite.
type Number struct {
	Set      bool  `json:"set"`
	Infinite bool  `json:"infinite"`
	Number   int64 `json:"number"`
}

// NewNumber returns a Number that is set.
func NewNumber(n int64) Number { return Number{Set: true, Number: n} }

// NewOptionalNumber returns a Number that is unset if n is 0.
func NewOptionalNumber(n int64) Number { return Number{Set: n > 0, Number: n} }

// NewTimeLimit returns a time limit in whole minutes. 0 means no limit.
func NewTimeLimit(limit time.Duration) Number {
	if limit == 0 {
		return Number{Infinite: true}
	}
	return NewNumber(int64((limit + time.Minute - 1) / time.Minute))
}

func timeOrZero(t time.Time) Number {
	if t.IsZero() {
		return NewNumber(0)
	}
	return NewNumber(t.Unix())
}

// Document is the output of --json.
type Document struct {
	Jobs       []Job    `json:"jobs"`
	LastUpdate Number   `json:"last_update"`
	Meta       Meta     `json:"meta"`
	Errors     []string `json:"errors"`
	Warnings   []string `json:"warnings"`
}

// Meta describes the program that wrote the document.
type Meta struct {
	Plugin  map[string]string `json:"plugin"`
	Command []string          `json:"command"`
	Slurm   map[string]string `json:"Slurm"`
}

// Job is the JSON form of a row.
type Job struct {
	Account         string   `json:"account"`
	ArrayJobID      Number   `json:"array_job_id"`
	ArrayTaskID     Number   `json:"array_task_id"`
	ArrayTaskString string   `json:"array_task_string"`
	ArrayMaxTasks   Number   `json:"array_max_tasks"`
	Cluster         string   `json:"cluster"`
	Command         string   `json:"command"`
	Comment         string   `json:"comment"`
	CPUs            Number   `json:"cpus"`
	CurrentDir      string   `json:"current_working_directory"`
	Dependency      string   `json:"dependency"`
	EligibleTime    Number   `json:"eligible_time"`
	EndTime         Number   `json:"end_time"`
	ExcludedNodes   string   `json:"excluded_nodes"`
	ExitCode        ExitCode `json:"exit_code"`
	Features        string   `json:"features"`
	Hold            bool     `json:"hold"`
	JobID           int64    `json:"job_id"`
	JobState        []string `json:"job_state"`
	Name            string   `json:"name"`
	Namespace       string   `json:"namespace"`
	NodeCount       Number   `json:"node_count"`
	Nodes           string   `json:"nodes"`
	Partition       string   `json:"partition"`
	Priority        Number   `json:"priority"`
	QOS             string   `json:"qos"`
	Requeue         bool     `json:"requeue"`
	RequiredNodes   string   `json:"required_nodes"`
	RestartCount    int      `json:"restart_cnt"`
	StandardError   string   `json:"standard_error"`
	StandardInput   string   `json:"standard_input"`
	StandardOutput  string   `json:"standard_output"`
	StartTime       Number   `json:"start_time"`
	StateReason     string   `json:"state_reason"`
	SubmitTime      Number   `json:"submit_time"`
	Tasks           Number   `json:"tasks"`
	TimeLimit       Number   `json:"time_limit"`
	TRES            string   `json:"tres_req_str"`
	UserName        string   `json:"user_name"`
	WCKey           string   `json:"wckey"`
	Details
}

// ExitCode describes how a job ended.
type ExitCode struct {
	Status     []string `json:"status"`
	ReturnCode Number   `json:"return_code"`
	Signal     struct {
		ID   Number `json:"id"`
		Name string `json:"name"`
	} `json:"signal"`
}

// NewExitCode returns an exit code with the word for it and the name of the signal.
func NewExitCode(exit state.Exit) ExitCode {
	code := ExitCode{Status: []string{"SUCCESS"}, ReturnCode: NewNumber(int64(exit.Code))}
	code.Signal.ID = NewNumber(int64(exit.Signal))
	switch {
	case exit.Signal != 0:
		code.Status = []string{"SIGNALED"}
		code.Signal.Name = strings.TrimPrefix(unix.SignalName(syscall.Signal(exit.Signal)), "SIG")
	case exit.Code != 0:
		code.Status = []string{"ERROR"}
	}
	return code
}

// NewDocument returns the document for the given rows.
func NewDocument(rows []*listrow.Row, command []string, version string, now time.Time) Document {
	d := Document{Jobs: make([]Job, len(rows)), LastUpdate: NewNumber(now.Unix()), Errors: []string{}, Warnings: []string{},
		Meta: Meta{Plugin: map[string]string{"type": "openapi/vc"}, Command: command, Slurm: map[string]string{"release": version}}}
	for i, r := range rows {
		d.Jobs[i] = newJob(r)
	}
	return d
}

func newJob(r *listrow.Row) Job {
	start, end := r.StartAndEnd()
	j := Job{
		Account: r.AccountName(), Cluster: r.Cluster, Command: r.Asked.Command, Comment: r.Asked.Comment, CPUs: NewNumber(int64(r.TotalRequest().CPUs)),
		CurrentDir: r.Asked.WorkDir, Dependency: r.OpenDependency(), EligibleTime: timeOrZero(r.Times.Eligible), EndTime: timeOrZero(end),
		ExcludedNodes: r.Asked.Exclude, Features: r.Asked.Features, Hold: r.State.IsHeld(), JobState: []string{r.State.Code.LongName()},
		Name: r.JobTitle(), Namespace: r.Job.Namespace, NodeCount: NewNumber(int64(r.NodeCount())), Nodes: r.NodeList(), Partition: r.PartitionName(), Priority: NewNumber(r.Priority),
		QOS: r.QOSName(), Requeue: r.Asked.Requeue, RequiredNodes: r.Asked.Nodes, RestartCount: state.CountRestarts(r.Job), StandardError: cmp.Or(r.Asked.StdErr, r.Asked.StdOut),
		StandardInput: r.Asked.StdIn, StandardOutput: r.Asked.StdOut, StartTime: timeOrZero(start), StateReason: r.State.Reason, SubmitTime: timeOrZero(r.Times.Submit),
		Tasks: NewNumber(int64(r.TaskCount())), TimeLimit: NewTimeLimit(r.TimeLimit()), TRES: r.TRESText(), UserName: r.UserName(), WCKey: r.Asked.WCKey,
	}
	j.JobID, _ = strconv.ParseInt(r.RawID(), 10, 64)
	j.ExitCode = NewExitCode(r.Exit)
	j.setArray(r)
	j.Details = newDetails(r)
	return j
}

func (j *Job) setArray(r *listrow.Row) {
	j.ArrayJobID = NewNumber(0)
	if !r.IsArray() {
		return
	}
	if id, ok := batchv1alpha1.JobID(r.Job); ok {
		j.ArrayJobID = NewNumber(id)
	}
	if limit, err := batchv1alpha1.ArrayLimit(r.Job); err == nil {
		j.ArrayMaxTasks = NewNumber(int64(limit))
	}
	if r.Folded {
		j.ArrayTaskString = r.Elements.String()
		return
	}
	j.ArrayTaskID = NewNumber(int64(r.Elements[0].First))
}
