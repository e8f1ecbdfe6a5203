package translate

import (
	"fmt"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// maxNodes is the maximum number of pods in a job.
const maxNodes = 100_000

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
		if most := b.limits().MaxNodes; most > 0 { // as in Slurm, the partition limits how far the job may grow
			nodes = max(min(nodes, int(most)), least)
		}
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
		b.addError(usererror.Errorf(fmt.Sprintf("a job can have at most %d nodes; to use more nodes in parallel, use --array", maxNodes), "Batch job submission failed: Requested node configuration is not available (%d nodes)", nodes))
		nodes, least = 1, 1
	}
	var uneven error
	if b.size, uneven = b.sizeOnNodes(nodes); uneven != nil {
		b.addError(uneven)
	}
	b.size.least = least
}

// deriveNodeCount returns the number of pods in a job without --nodes, as determined by other options.
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
	for _, given := range []struct {
		option string
		gpus   []optionvalue.Gres
		to     *string
	}{{"gpus", b.gpus.total, &b.launch.GPUs}, {"gpus-per-node", b.gpus.perNode, &b.launch.GPUsPerNode}, {"gpus-per-task", b.gpus.perTask, &b.launch.GPUsPerTask}, {"tres-per-task", b.gpus.perTask, &b.launch.GPUsPerTask}} {
		if r.HasOption(given.option) {
			*given.to = formatGPUs(given.gpus)
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
