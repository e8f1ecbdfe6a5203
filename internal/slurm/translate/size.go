package translate

import (
	"fmt"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/usererror"
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

// measure determines the number of pods and the resources of each pod.
func (b *builder) measure() {
	r := b.r
	b.gpus()
	var nodes, least int
	if r.Nodes != nil {
		nodes, least = int(r.Nodes.Max), int(r.Nodes.Min)
	} else {
		nodes = b.nodesThatFollow()
		least = nodes
		b.notTooMany(nodes)
	}
	if r.Nodes != nil && r.Tasks > 0 && int64(least) > r.Tasks {
		b.warnings = append(b.warnings, fmt.Sprintf("can't run %d processes on %d nodes, setting nnodes to %d", r.Tasks, least, r.Tasks))
		least = int(r.Tasks)
		nodes = least
	}
	if nodes > maxNodes {
		b.fail(usererror.Errorf(fmt.Sprintf("a job can have at most %d nodes; use --array to run more in parallel", maxNodes), "Batch job submission failed: Requested node configuration is not available (%d nodes)", nodes))
		nodes, least = 1, 1
	}
	var uneven error
	if b.size, uneven = b.sizeOn(nodes); uneven != nil {
		b.fail(uneven)
	}
	b.size.least = least
	b.together()
	b.tell()
}

// nodesThatFollow returns the number of pods of a job without --nodes, as determined by other options.
func (b *builder) nodesThatFollow() int {
	r := b.r
	total, perNode := countOf(r.GPUs, "gpu"), countOf(r.GPUsPerNode, "gpu")
	switch {
	case r.Tasks > 0 && r.TasksPerNode > 0:
		return int(divideUp(r.Tasks, r.TasksPerNode))
	case total > 0 && perNode > 0:
		return int(divideUp(total, perNode))
	case len(r.Nodelist) > 0 && r.Tasks == 0:
		return len(r.Nodelist)
	case r.Tasks > 0 || total > 0:
		return b.fewest(max(r.Tasks, total))
	}
	return 1
}

// divideUp divides and rounds up.
func divideUp(a, by int64) int64 { return (a + by - 1) / by }

// sizeOn returns the size of the job on a given number of nodes. It returns an error if the job cannot be spread over
// them evenly.
func (b *builder) sizeOn(nodes int) (size, error) {
	r := b.r
	s := size{nodes: nodes, least: nodes, tasks: b.tasksInAll(int64(nodes)), onNode: r.TasksPerNode}
	if s.onNode == 0 {
		s.onNode = divideUp(s.tasks, int64(nodes))
	}
	var err error
	s.gres, err = b.gresOfNode(&s)
	gpus := countOf(s.gres, "gpu")
	s.cpus = s.onNode * max(r.CPUsPerTask, 1)
	if r.CPUsPerGPU > 0 {
		s.cpus = gpus * r.CPUsPerGPU
	}
	s.cpus = max(s.cpus, 1)
	s.memory = b.memoryOfNode(&s, gpus)
	return s, err
}

// tasksInAll returns the total number of tasks that srun starts.
func (b *builder) tasksInAll(nodes int64) int64 {
	r := b.r
	total, perNode, perTask := countOf(r.GPUs, "gpu"), countOf(r.GPUsPerNode, "gpu"), countOf(r.GPUsPerTask, "gpu")
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

// memoryOfNode returns the memory of each pod.
func (b *builder) memoryOfNode(s *size, gpus int64) optionvalue.MiB {
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

// tell adds the size to the launcher's specification.
func (b *builder) tell() {
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
		if r.Has(said.option) {
			*said.to = shortGPUs(said.gpus)
		}
	}
	b.spec.GPUsOnNode = int(countOf(s.gres, "gpu"))
	b.by("ntasks", "spec.tasks[0].replicas")
	b.by("ntasks-per-node", "launch.tasksPerNode")
	for _, name := range []string{"cpus-per-task", "ntasks-per-node", "ntasks-per-gpu", "cpus-per-gpu", "ntasks", "tres-per-task"} {
		b.by(name, container("resources.requests.cpu"))
	}
	for _, name := range []string{"mem", "mem-per-cpu", "mem-per-gpu"} {
		b.by(name, container("resources.requests.memory"))
	}
}
