package translate

import (
	"fmt"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// size is the size of a job: the number of pods and the resources of each pod.
type size struct {
	// nodes is the number of pods of the job or, for an array, of each element. least is the minimum number of pods.
	nodes, least int
	// tasks is the total number of tasks that srun starts. onNode is the largest number of tasks in a pod.
	tasks, onNode int64
	// cpus, memory and gres are the resources of each pod. If memory is 0, the pods request no memory.
	cpus   int64
	memory optionvalue.MiB
	gres   []optionvalue.Gres
}

// maxNodes limits the number of pods of a job.
const maxNodes = 100_000

// determineSize determines the number of pods and the resources of each pod.
func (b *builder) determineSize() {
	r := b.r
	b.normalizeGPUs()
	var nodes, least int
	if r.Nodes != nil {
		nodes, least = int(r.Nodes.Max), int(r.Nodes.Min)
	} else {
		nodes = b.deriveNodeCount()
		least = nodes
		b.checkNodeCount(nodes)
	}
	if r.Nodes != nil && r.Tasks > 0 && int64(least) > r.Tasks {
		b.warnings = append(b.warnings, fmt.Sprintf("can't run %d processes on %d nodes, setting nnodes to %d", r.Tasks, least, r.Tasks))
		least = int(r.Tasks)
		nodes = least
	}
	if nodes > maxNodes {
		b.addError(usererror.Errorf(fmt.Sprintf("a job can have at most %d nodes; use --array to run more in parallel", maxNodes), "Batch job submission failed: Requested node configuration is not available (%d nodes)", nodes))
		nodes, least = 1, 1
	}
	var uneven error
	if b.size, uneven = b.sizeOnNodes(nodes); uneven != nil {
		b.addError(uneven)
	}
	b.size.least = least
	b.checkConsistency()
	b.describeSize()
}

// deriveNodeCount returns the number of pods of a job without --nodes, as determined by other options.
func (b *builder) deriveNodeCount() int {
	r := b.r
	total, perNode := sumCounts(r.GPUs, "gpu"), sumCounts(r.GPUsPerNode, "gpu")
	switch {
	case r.Tasks > 0 && r.TasksPerNode > 0:
		return int(divideRoundingUp(r.Tasks, r.TasksPerNode))
	case total > 0 && perNode > 0:
		return int(divideRoundingUp(total, perNode))
	case len(r.Nodelist) > 0 && r.Tasks == 0:
		return len(r.Nodelist)
	case r.Tasks > 0 || total > 0:
		return b.fewestPods(max(r.Tasks, total))
	}
	return 1
}

// divideRoundingUp divides and rounds up.
func divideRoundingUp(a, by int64) int64 { return (a + by - 1) / by }

// sizeOnNodes returns the size of the job on a given number of nodes. It returns an error if the job cannot be spread
// over them evenly.
func (b *builder) sizeOnNodes(nodes int) (size, error) {
	r := b.r
	s := size{nodes: nodes, least: nodes, tasks: b.totalTasks(int64(nodes)), onNode: r.TasksPerNode}
	if s.onNode == 0 {
		s.onNode = divideRoundingUp(s.tasks, int64(nodes))
	}
	var err error
	s.gres, err = b.gresPerNode(&s)
	gpus := sumCounts(s.gres, "gpu")
	s.cpus = s.onNode * max(r.CPUsPerTask, 1)
	if r.CPUsPerGPU > 0 {
		s.cpus = gpus * r.CPUsPerGPU
	}
	s.cpus = max(s.cpus, 1)
	s.memory = b.memoryPerNode(&s, gpus)
	return s, err
}

// totalTasks returns the total number of tasks that srun starts.
func (b *builder) totalTasks(nodes int64) int64 {
	r := b.r
	total, perNode, perTask := sumCounts(r.GPUs, "gpu"), sumCounts(r.GPUsPerNode, "gpu"), sumCounts(r.GPUsPerTask, "gpu")
	if total == 0 {
		total = perNode * nodes
	}
	switch {
	case r.Tasks > 0:
		return r.Tasks
	case r.TasksPerNode > 0:
		return r.TasksPerNode * nodes
	case r.TasksPerGPU > 0:
		return r.TasksPerGPU * max(total, 1)
	case total > 0 && perTask > 0:
		return max(total/perTask, 1)
	}
	return nodes
}

// memoryPerNode returns the memory of each pod.
func (b *builder) memoryPerNode(s *size, gpus int64) optionvalue.MiB {
	r := b.r
	switch {
	case r.Mem != nil:
		return *r.Mem
	case r.MemPerCPU != nil:
		return *r.MemPerCPU * optionvalue.MiB(s.cpus)
	case r.MemPerGPU != nil:
		return *r.MemPerGPU * optionvalue.MiB(gpus)
	case b.p.DefMemPerCPU != "":
		each, err := optionvalue.ParseMemory(b.p.DefMemPerCPU) // the profile has already been validated
		if err == nil {
			return each * optionvalue.MiB(s.cpus)
		}
	}
	return 0
}

// describeSize adds the size to the launcher's specification.
func (b *builder) describeSize() {
	r, s := b.r, &b.size
	b.spec.Nodes, b.spec.CPUs = s.nodes, int(s.cpus)
	b.spec.Distribution = r.Given["distribution"].Text
	b.spec.TasksGiven = r.Tasks > 0 || r.TasksPerNode > 0 || r.TasksPerGPU > 0
	if b.spec.TasksGiven {
		b.spec.Tasks = int(s.tasks)
	}
	b.spec.TasksPerNode, b.spec.CPUsPerTask = int(r.TasksPerNode), int(r.CPUsPerTask)
	for memory, to := range map[*optionvalue.MiB]*int64{r.Mem: &b.spec.MemPerNode, r.MemPerCPU: &b.spec.MemPerCPU, r.MemPerGPU: &b.spec.MemPerGPU} {
		if memory != nil {
			*to = int64(*memory)
		}
	}
	for _, said := range []struct {
		option string
		gpus   []optionvalue.Gres
		to     *string
	}{{"gpus", r.GPUs, &b.spec.GPUs}, {"gpus-per-node", r.GPUsPerNode, &b.spec.GPUsPerNode}, {"gpus-per-task", r.GPUsPerTask, &b.spec.GPUsPerTask}, {"tres-per-task", r.GPUsPerTask, &b.spec.GPUsPerTask}} {
		if r.HasOption(said.option) {
			*said.to = formatGPUs(said.gpus)
		}
	}
	b.spec.GPUsOnNode = int(sumCounts(s.gres, "gpu"))
	b.recordFields("ntasks", "spec.tasks[0].replicas")
	b.recordFields("ntasks-per-node", "launch.tasksPerNode")
	for _, name := range []string{"cpus-per-task", "ntasks-per-node", "ntasks-per-gpu", "cpus-per-gpu", "ntasks", "tres-per-task"} {
		b.recordFields(name, containerPath("resources.requests.cpu"))
	}
	for _, name := range []string{"mem", "mem-per-cpu", "mem-per-gpu"} {
		b.recordFields(name, containerPath("resources.requests.memory"))
	}
}
