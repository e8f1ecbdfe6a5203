package squeue

import (
	"strconv"
	"strings"
	"time"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Number is a number in Slurm's JSON, which may be missing or infinite.
type Number struct {
	Set      bool  `json:"set"`
	Infinite bool  `json:"infinite"`
	Number   int64 `json:"number"`
}

func number(n int64) Number { return Number{Set: true, Number: n} }

func moment0(t time.Time) Number {
	if t.IsZero() {
		return number(0)
	}
	return number(t.Unix())
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

// JSON returns the document for the given rows.
func JSON(rows []*listrow.Row, command []string, version string, now time.Time) Document {
	d := Document{Jobs: make([]Job, len(rows)), LastUpdate: number(now.Unix()), Errors: []string{}, Warnings: []string{},
		Meta: Meta{Plugin: map[string]string{"type": "openapi/vc"}, Command: command, Slurm: map[string]string{"release": version}}}
	for i, r := range rows {
		d.Jobs[i] = jobOf(r)
	}
	return d
}

func jobOf(r *listrow.Row) Job {
	start, end := r.Foretold()
	j := Job{
		Account: r.Account(), Cluster: r.Cluster, Command: r.Asked.Command, Comment: r.Asked.Comment, CPUs: number(int64(r.Total().CPUs)),
		CurrentDir: r.Asked.WorkDir, Dependency: r.Dependency(), EligibleTime: moment0(r.Times.Eligible), EndTime: moment0(end),
		ExcludedNodes: r.Asked.Exclude, Features: r.Asked.Features, Hold: strings.HasPrefix(r.State.Reason, "JobHeld"), JobState: []string{r.State.Code.Name()},
		Name: r.Name(), Namespace: r.Job.Namespace, NodeCount: number(int64(r.NumNodes())), Nodes: r.NodeList(), Partition: r.Partition(), Priority: number(r.Priority),
		QOS: r.QOS(), Requeue: r.Asked.Requeue, RequiredNodes: r.Asked.Nodes, RestartCount: state.Restarts(r.Job), StandardError: or(r.Asked.StdErr, r.Asked.StdOut),
		StandardInput: r.Asked.StdIn, StandardOutput: r.Asked.StdOut, StartTime: moment0(start), StateReason: r.State.Reason, SubmitTime: moment0(r.Times.Submit),
		Tasks: number(int64(r.Tasks())), TimeLimit: Number{Infinite: true}, TRES: r.TRES(), UserName: r.User(), WCKey: r.Asked.WCKey,
	}
	j.JobID, _ = strconv.ParseInt(r.RawID(), 10, 64)
	if limit := r.Limit(); limit > 0 {
		j.TimeLimit = number(int64((limit + time.Minute - 1) / time.Minute))
	}
	j.ExitCode.Status = []string{"SUCCESS"}
	if r.Exit != (state.Exit{}) {
		j.ExitCode.Status = []string{"ERROR"}
	}
	j.ExitCode.ReturnCode, j.ExitCode.Signal.ID = number(int64(r.Exit.Code)), number(int64(r.Exit.Signal))
	j.array(r)
	j.Details = detailsOf(r)
	return j
}

func (j *Job) array(r *listrow.Row) {
	j.ArrayJobID = number(0)
	if !r.IsArray() {
		return
	}
	if id, ok := batch.JobID(r.Job); ok {
		j.ArrayJobID = number(id)
	}
	if limit, err := batch.ArrayLimit(r.Job); err == nil {
		j.ArrayMaxTasks = number(int64(limit))
	}
	if r.Folded {
		j.ArrayTaskString = r.Elements.String()
		return
	}
	j.ArrayTaskID = number(int64(r.Elements[0].First))
}
