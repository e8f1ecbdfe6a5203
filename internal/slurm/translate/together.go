package translate

import (
	"fmt"

	"github.com/vc-batch/vc/internal/usererror"
)

// checkConsistency adds errors for inconsistent sizes, with which a task or a GPU could not be placed.
func (b *sizing) checkConsistency() {
	b.checkTasks()
	b.checkGPUs()
	b.checkMemory()
}

// invalidTasksError returns Slurm's error for an invalid number of tasks.
func invalidTasksError(hint string, args ...any) error {
	return usererror.Errorf(fmt.Sprintf(hint, args...), "Batch job submission failed: Task count specification invalid")
}

func (b *sizing) checkTasks() {
	r, s := b.r, &b.size
	if room := r.TasksPerNode * int64(s.nodes); r.TasksPerNode > 0 && r.Tasks > room {
		b.addError(invalidTasksError("%d nodes with --ntasks-per-node=%d can run only %d tasks, but --ntasks=%d was requested: use --nodes=%d or --ntasks-per-node=%d",
			s.nodes, r.TasksPerNode, room, r.Tasks, divideRoundingUp(r.Tasks, r.TasksPerNode), divideRoundingUp(r.Tasks, int64(s.nodes))))
	}
	total := sumCounts(s.gres, "gpu") * int64(s.nodes)
	if r.TasksPerGPU > 0 && r.Tasks > r.TasksPerGPU*total {
		b.addError(invalidTasksError("%d GPUs with --ntasks-per-gpu=%d can run only %d tasks, but --ntasks=%d was requested", total, r.TasksPerGPU, r.TasksPerGPU*total, r.Tasks))
	}
}

func (b *sizing) checkGPUs() {
	r, s := b.r, &b.size
	total, perNode, perTask := b.gpus.counts()
	bothAreSet := total > 0 && perTask > 0
	node := "gpus-per-node"
	if b.gpus.areFromGres {
		node = "gres"
	}
	switch {
	case total > 0 && perNode > 0 && total != perNode*int64(s.nodes):
		b.addError(usererror.Errorf(fmt.Sprintf("use --gpus=%d, or remove one of the options", perNode*int64(s.nodes)), "%s and %s conflict for a job with %d nodes", b.totalGPUOptions(), r.OptionText(node), s.nodes))
	case perNode > 0 && perTask*s.onNode > perNode:
		b.addError(usererror.Errorf(fmt.Sprintf("use --gpus-per-node=%d or --ntasks-per-node=%d", perTask*s.onNode, max(perNode/perTask, 1)), "%s and %s conflict for a job with %d tasks per node", r.OptionText(node), r.OptionText("gpus-per-task"), s.onNode))
	case perNode == 0 && bothAreSet && perTask*s.tasks != total:
		b.addError(usererror.Errorf(fmt.Sprintf("use --gpus=%d, or remove one of the options", perTask*s.tasks), "%s and %s conflict for a job with %d tasks", b.totalGPUOptions(), r.OptionText("gpus-per-task"), s.tasks))
	}
	none := sumCounts(s.gres, "gpu") == 0
	for _, name := range []string{"cpus-per-gpu", "mem-per-gpu", "ntasks-per-gpu"} {
		if none && r.HasOption(name) {
			b.addError(usererror.Errorf("request GPUs with --gpus or --gpus-per-node", "--%s requires GPUs, but no GPUs are requested", name))
		}
	}
	if r.CPUsPerGPU > 0 && r.CPUsPerTask > 0 { // --tres-per-task sets both
		b.addError(usererror.Errorf("use only one of these options", "%s and %s both specify the number of CPUs", r.OptionText("cpus-per-gpu"), r.OptionText("tres-per-task")))
	}
}

// checkMemory adds a note, with --verbose, if the job requests all memory of a node but not the whole node. The note is
// needed because the pods then have no memory limit and may use all free memory.
func (b *sizing) checkMemory() {
	r := b.r
	if r.Exclusive == wholeNode || r.Verbose == 0 {
		return
	}
	for _, name := range []string{"mem", "mem-per-cpu", "mem-per-gpu"} {
		lacksGPUs := name == "mem-per-gpu" && len(b.size.gres) == 0
		if r.HasOption(name) && b.size.memory == 0 && !lacksGPUs {
			b.addNote("--" + name + "=0: the job has no memory limit, and no memory is reserved for the job; use --exclusive to get the whole node")
		}
	}
}
