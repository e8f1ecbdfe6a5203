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

// sizing is the topic of the size.
type sizing struct {
	topic
	gpus gpuRequest
}

// determineSize determines the number of pods and the resources of each pod.
func (s *source) determineSize(to target) (size, *part) {
	b := &sizing{topic: topic{source: s, target: to}}
	b.normalizeGPUs()
	b.setSize()
	b.checkConsistency()
	b.describeSize()
	return b.size, &b.part
}

func (b *sizing) setSize() {
	r := b.r
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
}

// deriveNodeCount returns the number of pods of a job without --nodes, as determined by other options.
func (b *sizing) deriveNodeCount() int {
	r := b.r
	total, perNode, _ := b.gpus.counts()
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
func (b *sizing) sizeOnNodes(nodes int) (size, error) {
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
func (b *sizing) totalTasks(nodes int64) int64 {
	r := b.r
	total, perNode, perTask := b.gpus.counts()
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
func (b *sizing) memoryPerNode(s *size, gpus int64) optionvalue.MiB {
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
func (b *sizing) describeSize() {
	r, s := b.r, &b.size
	b.launch.Nodes, b.launch.CPUs = s.nodes, int(s.cpus)
	b.launch.Distribution = r.Given["distribution"].Text
	b.launch.TasksGiven = r.Tasks > 0 || r.TasksPerNode > 0 || r.TasksPerGPU > 0
	if b.launch.TasksGiven {
		b.launch.Tasks = int(s.tasks)
	}
	b.launch.TasksPerNode, b.launch.CPUsPerTask = int(r.TasksPerNode), int(r.CPUsPerTask)
	b.launch.MemPerNode, b.launch.MemPerCPU, b.launch.MemPerGPU = mebibytes(r.Mem), mebibytes(r.MemPerCPU), mebibytes(r.MemPerGPU)
	for _, said := range []struct {
		option string
		gpus   []optionvalue.Gres
		to     *string
	}{{"gpus", b.gpus.total, &b.launch.GPUs}, {"gpus-per-node", b.gpus.perNode, &b.launch.GPUsPerNode}, {"gpus-per-task", b.gpus.perTask, &b.launch.GPUsPerTask}, {"tres-per-task", b.gpus.perTask, &b.launch.GPUsPerTask}} {
		if r.HasOption(said.option) {
			*said.to = formatGPUs(said.gpus)
		}
	}
	b.launch.GPUsOnNode = int(sumCounts(s.gres, "gpu"))
	b.recordFields("ntasks", "spec.tasks[0].replicas")
	b.recordFields("ntasks-per-node", "launch.tasksPerNode")
	for _, name := range []string{"cpus-per-task", "ntasks-per-node", "ntasks-per-gpu", "cpus-per-gpu", "ntasks", "tres-per-task"} {
		b.recordFields(name, containerPath("resources.requests.cpu"))
	}
	for _, name := range []string{"mem", "mem-per-cpu", "mem-per-gpu"} {
		b.recordFields(name, containerPath("resources.requests.memory"))
	}
}

// mebibytes returns an amount of memory in MiB, or 0 if it was not specified.
func mebibytes(memory *optionvalue.MiB) int64 {
	if memory == nil {
		return 0
	}
	return int64(*memory)
}
