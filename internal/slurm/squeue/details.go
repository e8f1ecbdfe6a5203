package squeue

import (
	"cmp"
	"strconv"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Details holds the JSON fields about a job's requests, resources and owner.
type Details struct {
	BatchFlag     bool      `json:"batch_flag"`
	BatchHost     string    `json:"batch_host"`
	CPUsPerTask   Number    `json:"cpus_per_task"`
	GroupID       int64     `json:"group_id"`
	GroupName     string    `json:"group_name"`
	Resources     Resources `json:"job_resources"`
	MemoryPerCPU  Number    `json:"memory_per_cpu"`
	MemoryPerNode Number    `json:"memory_per_node"`
	MinCPUs       Number    `json:"minimum_cpus_per_node"`
	TasksPerNode  Number    `json:"tasks_per_node"`
	TRESAlloc     string    `json:"tres_alloc_str"`
	TRESPerNode   string    `json:"tres_per_node"`
	UserID        int64     `json:"user_id"`
}

// Resources holds the resources that are allocated to a job that has started.
type Resources struct {
	Nodes ResourceNodes `json:"nodes"`
	CPUs  int           `json:"cpus"`
}

// ResourceNodes lists the nodes of a job.
type ResourceNodes struct {
	Count      int          `json:"count"`
	List       string       `json:"list"`
	Allocation []Allocation `json:"allocation"`
}

// Allocation holds the resources that a job has on one node.
type Allocation struct {
	Name string `json:"name"`
	CPUs struct {
		Count int `json:"count"`
	} `json:"cpus"`
	Memory struct {
		Allocated int64 `json:"allocated"` // MiB
	} `json:"memory"`
}

func newDetails(r *listrow.Row) Details {
	per := r.LargestRequest()
	d := Details{
		BatchFlag: true, BatchHost: cmp.Or(r.BatchHost(), none), CPUsPerTask: NewOptionalNumber(int64(r.Asked.CPUsPerTask)), GroupID: parseID(cmp.Or(r.Asked.GID, noID)), GroupName: r.Asked.Group,
		MemoryPerCPU: NewOptionalNumber(r.Asked.MemPerCPU), MinCPUs: NewNumber(int64(r.MinimumCPUs())), TasksPerNode: NewOptionalNumber(int64(r.Asked.TasksPerNode)), UserID: parseID(r.UserID()),
		Resources: Resources{Nodes: ResourceNodes{Allocation: []Allocation{}}},
	}
	if r.Asked.MemPerCPU == 0 {
		d.MemoryPerNode = NewOptionalNumber(per.Memory >> 20)
	}
	if gres := r.GresText(); gres != none {
		d.TRESPerNode = gres
	}
	if r.Times.Start.IsZero() || r.State.Code.BaseCode() == state.Pending {
		d.BatchHost = ""
		return d
	}
	d.TRESAlloc = r.TRESText()
	d.Resources.CPUs, d.Resources.Nodes.Count, d.Resources.Nodes.List = r.TotalRequest().CPUs, r.NodeCount(), r.NodeList()
	for _, name := range r.NodeNames() {
		one := Allocation{Name: name}
		one.CPUs.Count, one.Memory.Allocated = per.CPUs, per.Memory>>20
		d.Resources.Nodes.Allocation = append(d.Resources.Nodes.Allocation, one)
	}
	return d
}

// noID is Slurm's number for an unknown user or group.
const noID = "4294967294"

// parseID parses the number of a user or group. It returns 0 if the number is invalid.
func parseID(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
