package sacct

import (
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Document is the output of --json. The fields have the names and types of dbv0.0.40_job in Slurm's OpenAPI documents.
// Slurm has more fields; those without a meaning here are absent. Fields id and namespace are additions.
type Document struct {
	Jobs     []Job       `json:"jobs"`
	Meta     squeue.Meta `json:"meta"`
	Errors   []string    `json:"errors"`
	Warnings []string    `json:"warnings"`
}

// Job is a job with its steps.
type Job struct {
	Account          string          `json:"account"`
	AllocationNodes  int             `json:"allocation_nodes"`
	Array            Array           `json:"array"`
	Association      Association     `json:"association"`
	Cluster          string          `json:"cluster"`
	Comment          Comment         `json:"comment"`
	Constraints      string          `json:"constraints"`
	DerivedExitCode  squeue.ExitCode `json:"derived_exit_code"`
	ExitCode         squeue.ExitCode `json:"exit_code"`
	Group            string          `json:"group"`
	Hold             bool            `json:"hold"`
	ID               string          `json:"id"`
	JobID            int64           `json:"job_id"`
	KillRequestUser  string          `json:"kill_request_user"`
	Name             string          `json:"name"`
	Namespace        string          `json:"namespace"`
	Nodes            string          `json:"nodes"`
	Partition        string          `json:"partition"`
	Priority         squeue.Number   `json:"priority"`
	QOS              string          `json:"qos"`
	Required         Required        `json:"required"`
	RestartCount     int             `json:"restart_cnt"`
	State            State           `json:"state"`
	Steps            []Step          `json:"steps"`
	SubmitLine       string          `json:"submit_line"`
	Time             Time            `json:"time"`
	TRES             TRES            `json:"tres"`
	User             string          `json:"user"`
	WCKey            WCKey           `json:"wckey"`
	WorkingDirectory string          `json:"working_directory"`
}

// Array describes the array to which a job belongs. All fields are empty if it belongs to none.
type Array struct {
	JobID  int64         `json:"job_id"`
	Limits ArrayLimits   `json:"limits"`
	Task   string        `json:"task"` // the tasks that wait, if the job stands for several
	TaskID squeue.Number `json:"task_id"`
}

// ArrayLimits holds the largest number of tasks that run at the same time. 0 means no limit.
type ArrayLimits struct {
	Max struct {
		Running struct {
			Tasks int `json:"tasks"`
		} `json:"running"`
	} `json:"max"`
}

// Association is the account and the user of a job.
type Association struct {
	Account   string `json:"account"`
	Cluster   string `json:"cluster"`
	Partition string `json:"partition"`
	User      string `json:"user"`
}

// Comment holds comments of administrators, of the user, and of the system. Only users write comments.
type Comment struct {
	Administrator string `json:"administrator"`
	Job           string `json:"job"`
	System        string `json:"system"`
}

// Required holds requested resources. Memory is in mebibytes.
type Required struct {
	CPUs          int           `json:"CPUs"`
	MemoryPerCPU  squeue.Number `json:"memory_per_cpu"`
	MemoryPerNode squeue.Number `json:"memory_per_node"`
}

// State is the state of a job with its reason.
type State struct {
	Current []string `json:"current"`
	Reason  string   `json:"reason"`
}

// TRES lists trackable resources. Allocated is empty for a job that has not started.
type TRES struct {
	Allocated []Resource `json:"allocated"`
	Requested []Resource `json:"requested"`
}

// Resource is an amount of a trackable resource. Memory is in mebibytes.
type Resource struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	ID    int    `json:"id"`
	Count int64  `json:"count"`
}

// WCKey is the workload characterization key of a job.
type WCKey struct {
	WCKey string   `json:"wckey"`
	Flags []string `json:"flags"`
}

// Step is the batch script, or a step started by srun.
type Step struct {
	ExitCode squeue.ExitCode `json:"exit_code"`
	Nodes    StepNodes       `json:"nodes"`
	State    []string        `json:"state"`
	Step     StepName        `json:"step"`
	Tasks    StepTasks       `json:"tasks"`
	Time     StepTime        `json:"time"`
	TRES     StepTRES        `json:"tres"`
}

// StepNodes lists the nodes of a step.
type StepNodes struct {
	Count int      `json:"count"`
	Range string   `json:"range"`
	List  []string `json:"list"`
}

// StepName identifies a step.
type StepName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// StepTasks is the number of tasks of a step.
type StepTasks struct {
	Count int `json:"count"`
}

// StepTRES lists the resources of a step.
type StepTRES struct {
	Allocated []Resource `json:"allocated"`
}

// Time holds times in seconds since the epoch, and durations in seconds. Unknown times are 0. Limit is in minutes.
type Time struct {
	Elapsed    int64         `json:"elapsed"`
	Eligible   int64         `json:"eligible"`
	End        int64         `json:"end"`
	Limit      squeue.Number `json:"limit"`
	Planned    squeue.Number `json:"planned"`
	Start      int64         `json:"start"`
	Submission int64         `json:"submission"`
	Suspended  int64         `json:"suspended"`
	Total      CPUTime       `json:"total"`
}

// StepTime holds the times of a step.
type StepTime struct {
	Elapsed   int64         `json:"elapsed"`
	End       squeue.Number `json:"end"`
	Start     squeue.Number `json:"start"`
	Suspended int64         `json:"suspended"`
	Total     CPUTime       `json:"total"`
}

// CPUTime is the CPU time that was used.
type CPUTime struct {
	Seconds      int64 `json:"seconds"`
	Microseconds int64 `json:"microseconds"`
}

// NewDocument returns the document for the given lines.
func NewDocument(lines []*Line, command []string, version string) Document {
	d := Document{Jobs: []Job{}, Errors: []string{}, Warnings: []string{},
		Meta: squeue.Meta{Plugin: map[string]string{"type": "openapi/vc", "data_parser": "data_parser/v0.0.40"}, Command: command, Slurm: map[string]string{"release": version}}}
	for _, l := range lines {
		if l.IsJob() {
			d.Jobs = append(d.Jobs, newJob(l))
			continue
		}
		if n := len(d.Jobs); n > 0 {
			d.Jobs[n-1].Steps = append(d.Jobs[n-1].Steps, newStep(l))
		}
	}
	return d
}

func newJob(l *Line) Job {
	j := Job{
		Account: l.AccountName(), Array: newArray(l), Association: Association{Account: l.AccountName(), Cluster: l.Cluster, Partition: l.PartitionName(), User: l.UserName()}, Cluster: l.Cluster,
		Comment: Comment{Job: l.Asked.Comment}, Constraints: l.Asked.Features, DerivedExitCode: squeue.NewExitCode(l.Highest), ExitCode: squeue.NewExitCode(l.Ended), Group: l.Asked.Group,
		Hold: l.State.IsHeld(), ID: l.DisplayID(-1), KillRequestUser: l.CancelledBy(), Name: l.JobTitle(), Namespace: l.Job.Namespace, Nodes: l.Nodes, Partition: l.PartitionName(),
		Priority: squeue.NewNumber(l.Priority), QOS: l.QOSName(), Required: newRequired(l), RestartCount: state.CountRestarts(l.Job), State: State{Current: []string{l.Code.LongName()}, Reason: l.State.Reason},
		Steps: []Step{}, SubmitLine: l.Asked.SubmitLine, Time: newTime(l), TRES: TRES{Allocated: []Resource{}, Requested: listResources(l)}, User: l.UserName(),
		WCKey: WCKey{WCKey: l.Asked.WCKey, Flags: []string{}}, WorkingDirectory: l.Asked.WorkDir,
	}
	j.JobID, _ = strconv.ParseInt(l.RawID(), 10, 64)
	if l.CPUs > 0 {
		j.AllocationNodes, j.TRES.Allocated = l.Pods, j.TRES.Requested
	}
	return j
}

func newArray(l *Line) Array {
	var a Array
	if !l.IsArray() {
		return a
	}
	if id, ok := batchv1alpha1.JobID(l.Job); ok {
		a.JobID = id
	}
	if limit, err := batchv1alpha1.ArrayLimit(l.Job); err == nil {
		a.Limits.Max.Running.Tasks = int(limit)
	}
	if l.Folded {
		a.Task = l.Elements.String()
		return a
	}
	a.TaskID = squeue.NewNumber(int64(l.Elements[0].First))
	return a
}

func newRequired(l *Line) Required {
	r := Required{CPUs: l.TotalRequest().CPUs, MemoryPerCPU: squeue.NewOptionalNumber(l.Asked.MemPerCPU)}
	if l.Asked.MemPerCPU == 0 {
		r.MemoryPerNode = squeue.NewOptionalNumber(l.LargestRequest().Memory >> 20)
	}
	return r
}

func newTime(l *Line) Time {
	return Time{
		Elapsed: int64(l.ElapsedTime() / time.Second), Eligible: unixTime(l.Times.Eligible), End: unixTime(l.End), Limit: squeue.NewTimeLimit(l.TimeLimit()),
		Planned: squeue.NewNumber(int64(l.plannedTime() / time.Second)), Start: unixTime(l.Start), Submission: unixTime(l.Times.Submit), Suspended: int64(l.suspendedTime() / time.Second), Total: newCPUTime(l),
	}
}

func newCPUTime(l *Line) CPUTime {
	return CPUTime{Seconds: l.Usage.CPUMillis / 1000, Microseconds: l.Usage.CPUMillis % 1000 * 1000}
}

func newStep(l *Line) Step {
	nodes, err := hostlist.ExpandList(l.Nodes)
	if err != nil || nodes == nil {
		nodes = []string{}
	}
	return Step{
		ExitCode: squeue.NewExitCode(l.Ended), Nodes: StepNodes{Count: l.Pods, Range: l.Nodes, List: nodes}, State: []string{l.Code.LongName()},
		Step: StepName{ID: withStepSuffix(l.DisplayID(-1), l), Name: l.Label}, Tasks: StepTasks{Count: l.Tasks},
		Time: StepTime{Elapsed: int64(l.ElapsedTime() / time.Second), End: squeue.NewNumber(unixTime(l.End)), Start: squeue.NewNumber(unixTime(l.Start)), Total: newCPUTime(l)},
		TRES: StepTRES{Allocated: []Resource{newResource("cpu", int64(l.CPUs)), newResource("node", int64(l.Pods))}},
	}
}

// resourceIDs are the numbers that Slurm gives to the resources of every cluster.
var resourceIDs = map[string]int{"cpu": 1, "mem": 2, "node": 4, "billing": 5}

// firstGresID is the number of the first resource that is not in resourceIDs.
const firstGresID = 1001

func newResource(kind string, count int64) Resource {
	return Resource{Type: kind, ID: resourceIDs[kind], Count: count}
}

// listResources lists the resources that a job requests. Several Kubernetes resources may have one name in Slurm.
func listResources(l *Line) []Resource {
	total := l.TotalRequest()
	list := []Resource{newResource("cpu", int64(total.CPUs))}
	if total.Memory > 0 {
		list = append(list, newResource("mem", (total.Memory+1<<20-1)>>20))
	}
	list = append(list, newResource("node", int64(l.NodeCount())), newResource("billing", int64(total.CPUs)))
	devices := map[string]int64{}
	for name, n := range total.Devices {
		devices[listrow.GresName(name)] += n
	}
	for i, name := range slices.Sorted(maps.Keys(devices)) {
		list = append(list, Resource{Type: "gres", Name: name, ID: firstGresID + i, Count: devices[name]})
	}
	return list
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
