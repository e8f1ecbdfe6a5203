package translate

import "github.com/vc-batch/vc/internal/slurm/optionvalue"

// sizeOnNodes returns the size of the job on a given number of nodes. It returns an error if the job cannot be spread
// evenly over these nodes.
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
