package request

import (
	"time"

	"github.com/vc-batch/vc/internal/slurm/value"
)

// Request is one component of a job as it was asked for. Numbers that were not given are 0, pointers nil.
type Request struct {
	Command Command
	// Now is when it was asked.
	Now time.Time
	// Given are the options that count, by name: the last of each.
	Given map[string]Setting

	JobName, Partition, Account, QOS, Comment, WCKey, Extra string
	Hold                                                    bool
	Begin                                                   *time.Time
	Dependency                                              string
	KillOnInvalidDependency                                 bool
	Array                                                   *value.Array
	MailType, MailUser                                      string
	// Requeue is nil where nobody said.
	Requeue *bool
	NoKill  bool
	Signal  *value.Signal

	Nodes                                         *value.Count
	Tasks, TasksPerNode, TasksPerGPU, CPUsPerTask int64
	CPUsPerGPU                                    int64
	Mem, MemPerCPU, MemPerGPU                     *value.MiB
	Tmp                                           value.MiB
	Gres, GPUs, GPUsPerNode, GPUsPerTask          []value.Gres
	Licenses                                      string

	Nodelist, Exclude []string
	// Nodefile is a file that holds a list of nodes; who submits reads it into Nodelist.
	Nodefile           string
	Constraint, Prefer value.Features
	// Exclusive is "", "exclusive" or "user".
	Exclusive string
	Switches  *value.Switches
	Segment   int64
	SpreadJob bool

	Time *value.Minutes
	// Immediate is how long an allocation may take before it is given up; 0: as long as it takes.
	Immediate time.Duration

	Output, Error, Input string
	Append               bool
	Chdir                string
	// Export is what --export says; ExportFile a file with variables.
	Export, ExportFile string

	Image, Mounts, ContainerWorkdir string
	// NoHome leaves out the volume that the home directory is on.
	NoHome bool

	Clusters                        string
	Wait, Parsable, TestOnly, Quiet bool
	Strict                          bool
	Verbose                         int
	Wrap                            string
	// NoEffect are sentences about options that were given and have no effect.
	NoEffect []string
	MPI      string
}

// Has says whether an option was given.
func (r *Request) Has(option string) bool {
	_, given := r.Given[option]
	return given
}

// Said is an option as it was given, "" when it was not: --nodes=4.
func (r *Request) Said(option string) string {
	setting, given := r.Given[option]
	if !given {
		return ""
	}
	return setting.String()
}
