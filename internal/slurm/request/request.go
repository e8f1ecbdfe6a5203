package request

import (
	"time"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// Request holds the options requested for one component of a job. Options that were not specified are 0 or nil.
type Request struct {
	Command Command
	// Now is the time of the request.
	Now time.Time
	// Given holds the effective setting of each specified option, by name.
	Given map[string]Setting

	JobName, Partition, Account, QOS, Comment, WCKey, Extra string
	Hold                                                    bool
	Begin                                                   *time.Time
	Dependency                                              string
	KillOnInvalidDependency                                 bool
	Array                                                   *optionvalue.Array
	MailType, MailUser                                      string
	// Requeue is nil if neither --requeue nor --no-requeue was specified.
	Requeue *bool
	NoKill  bool
	Signal  *optionvalue.Signal

	Nodes                                         *optionvalue.Count
	Tasks, TasksPerNode, TasksPerGPU, CPUsPerTask int64
	CPUsPerGPU                                    int64
	Mem, MemPerCPU, MemPerGPU                     *optionvalue.MiB
	Tmp                                           optionvalue.MiB
	Gres, GPUs, GPUsPerNode, GPUsPerTask          []optionvalue.Gres
	Licenses                                      string

	Nodelist, Exclude []string
	// Nodefile is the name of a file that contains a list of nodes. The caller reads the file and sets Nodelist.
	Nodefile           string
	Constraint, Prefer optionvalue.Features
	// Exclusive is "", "exclusive" or "user".
	Exclusive string
	Switches  *optionvalue.Switches
	Segment   int64
	SpreadJob bool

	Time *optionvalue.Minutes
	// Immediate is the maximum time that the command waits for an allocation. 0 means no limit.
	Immediate time.Duration

	Output, Error, Input string
	Append               bool
	Chdir                string
	// Export is the value of --export. ExportFile is the name of a file that contains variables.
	Export, ExportFile string

	Image, Mounts, ContainerWorkdir string
	// NoHome omits the volume of the home directory.
	NoHome bool

	Clusters                        string
	Wait, Parsable, TestOnly, Quiet bool
	Strict                          bool
	Verbose                         int
	Wrap                            string
	// NoEffect lists messages about options that were specified but have no effect. CheckSupport sets it.
	NoEffect []string
	MPI      string
}

// HasOption reports whether an option was specified.
func (r *Request) HasOption(option string) bool {
	_, given := r.Given[option]
	return given
}

// OptionText returns an option as it was specified, such as --nodes=4, or "" if it was not specified.
func (r *Request) OptionText(option string) string {
	setting, given := r.Given[option]
	if !given {
		return ""
	}
	return setting.String()
}
