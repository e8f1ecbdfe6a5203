package translate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/value"
)

// size is how large a job is: pods, and what each of them has.
type size struct {
	// nodes are pods, of an array those of each element; least how many are enough.
	nodes, least int
	// tasks are those of srun in all; onNode those of each pod.
	tasks, onNode int64
	// cpus, memory and gres are each pod's. memory 0 asks for none.
	cpus   int64
	memory value.MiB
	gres   []value.Gres
}

// maxNodes bounds the pods of one job.
const maxNodes = 100_000

// measure finds out how many pods the job has and what each asks for.
func (b *builder) measure() {
	r := b.r
	s := &b.size
	s.nodes, s.least = 1, 1
	if r.Nodes != nil {
		s.nodes, s.least = int(r.Nodes.Max), int(r.Nodes.Min)
	} else {
		s.nodes = b.nodesThatFollow()
		s.least = s.nodes
	}
	if s.nodes > maxNodes {
		b.fail(fault.Errorf("", "Batch job submission failed: Requested node configuration is not available (%d nodes)", s.nodes))
		s.nodes, s.least = 1, 1
	}
	s.tasks = b.tasksInAll(int64(s.nodes))
	s.onNode = r.TasksPerNode
	if s.onNode == 0 {
		s.onNode = (s.tasks + int64(s.nodes) - 1) / int64(s.nodes)
	}
	s.gres = b.gresOfNode()
	gpus := countOf(s.gres, "gpu")
	s.cpus = s.onNode * max(r.CPUsPerTask, 1)
	if r.CPUsPerGPU > 0 {
		s.cpus = gpus * r.CPUsPerGPU
		if gpus == 0 {
			b.fail(fault.Errorf("ask for GPUs with --gpus or --gpus-per-node", "--cpus-per-gpu is given, and no GPUs are asked for"))
		}
	}
	s.cpus = max(s.cpus, 1)
	b.memoryOfNode(gpus)
	b.tell()
}

// nodesThatFollow is how many pods a job has that does not say.
func (b *builder) nodesThatFollow() int {
	r := b.r
	up := func(a, by int64) int { return int((a + by - 1) / by) }
	switch {
	case r.Tasks > 0 && r.TasksPerNode > 0:
		return up(r.Tasks, r.TasksPerNode)
	case len(r.GPUs) > 0 && len(r.GPUsPerNode) > 0:
		return up(countOf(r.GPUs, "gpu"), max(countOf(r.GPUsPerNode, "gpu"), 1))
	case len(r.Nodelist) > 0 && r.Tasks == 0:
		return len(r.Nodelist)
	case r.Tasks > 0:
		return up(r.Tasks, b.fitting(r.Tasks))
	}
	return 1
}

// fitting is how many tasks go onto the largest node; all of them where that is not known.
func (b *builder) fitting(tasks int64) int64 {
	room := tasks
	limit := func(name corev1.ResourceName, each int64) {
		if have, known := b.Facts.Largest[name]; known && each > 0 {
			room = min(room, have.Value()/each)
		}
	}
	cpus := max(b.r.CPUsPerTask, 1)
	limit(corev1.ResourceCPU, cpus)
	if b.r.MemPerCPU != nil {
		limit(corev1.ResourceMemory, cpus*b.r.MemPerCPU.Bytes())
	}
	for _, g := range b.r.GPUsPerTask {
		if known, ok := b.p.GresOf(g.Name); ok {
			limit(known.Resource, g.Count)
		}
	}
	room = max(room, 1)
	if room < tasks && b.r.Verbose > 0 {
		b.notes = append(b.notes, fmt.Sprintf("--ntasks=%d: the largest node has room for %d, so %d nodes", tasks, room, (tasks+room-1)/room))
	}
	return room
}

// tasksInAll is how many tasks srun starts.
func (b *builder) tasksInAll(nodes int64) int64 {
	r := b.r
	switch {
	case r.Tasks > 0:
		return r.Tasks
	case r.TasksPerNode > 0:
		return r.TasksPerNode * nodes
	case r.TasksPerGPU > 0:
		return r.TasksPerGPU * max(countOf(r.GPUs, "gpu"), (countOf(r.GPUsPerNode, "gpu")+countOf(r.Gres, "gpu"))*nodes, 1)
	}
	return nodes
}

// gresOfNode are the generic resources of each pod, from all the ways to ask for them.
func (b *builder) gresOfNode() []value.Gres {
	r, s := b.r, &b.size
	all := append([]value.Gres(nil), r.Gres...)
	all = append(all, r.GPUsPerNode...)
	for _, g := range r.GPUsPerTask {
		g.Count *= s.onNode
		all = append(all, g)
	}
	for _, g := range r.GPUs {
		if len(r.GPUsPerNode) > 0 || len(r.GPUsPerTask) > 0 {
			break // the total follows from them
		}
		if g.Count%int64(s.nodes) != 0 {
			up := (g.Count + int64(s.nodes) - 1) / int64(s.nodes)
			b.fail(fault.Errorf(fmt.Sprintf("use --gpus-per-node=%d or --gpus=%d", up, up*int64(s.nodes)), "%s cannot be spread evenly over --nodes=%d", r.Said("gpus"), s.nodes))
		}
		g.Count /= int64(s.nodes)
		all = append(all, g)
	}
	return all
}

// countOf adds up what has a name.
func countOf(all []value.Gres, name string) int64 {
	var n int64
	for _, g := range all {
		if g.Name == name {
			n += g.Count
		}
	}
	return n
}

// memoryOfNode is what each pod gets.
func (b *builder) memoryOfNode(gpus int64) {
	r, s := b.r, &b.size
	switch {
	case r.Mem != nil:
		s.memory = *r.Mem
	case r.MemPerCPU != nil:
		s.memory = *r.MemPerCPU * value.MiB(s.cpus)
	case r.MemPerGPU != nil:
		s.memory = *r.MemPerGPU * value.MiB(gpus)
		if gpus == 0 {
			b.fail(fault.Errorf("ask for GPUs with --gpus or --gpus-per-node", "--mem-per-gpu is given, and no GPUs are asked for"))
		}
	case b.p.DefMemPerCPU != "":
		each, err := value.ParseMemory(b.p.DefMemPerCPU)
		if err != nil {
			b.fail(err)
		}
		s.memory = each * value.MiB(s.cpus)
	}
	if r.Mem != nil && *r.Mem == 0 && r.Exclusive == "" {
		b.fail(fault.Errorf("add --exclusive, or say how much", "--mem=0 asks for all memory of a node, which only a job with --exclusive can have"))
	}
}

// tell writes the size down for the launcher.
func (b *builder) tell() {
	r, s := b.r, &b.size
	b.spec.Nodes, b.spec.CPUs = s.nodes, int(s.cpus)
	b.spec.TasksGiven = r.Tasks > 0 || r.TasksPerNode > 0 || r.TasksPerGPU > 0
	if b.spec.TasksGiven {
		b.spec.Tasks = int(s.tasks)
	}
	b.spec.TasksPerNode, b.spec.CPUsPerTask = int(r.TasksPerNode), int(r.CPUsPerTask)
	for memory, to := range map[*value.MiB]*int64{r.Mem: &b.spec.MemPerNode, r.MemPerCPU: &b.spec.MemPerCPU, r.MemPerGPU: &b.spec.MemPerGPU} {
		if memory != nil {
			*to = int64(*memory)
		}
	}
	b.spec.GPUs, b.spec.GPUsPerNode, b.spec.GPUsPerTask = shortGPUs(r.GPUs), shortGPUs(r.GPUsPerNode), shortGPUs(r.GPUsPerTask)
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

// shortGPUs writes GPUs as they were asked for: 4, a100:4.
func shortGPUs(all []value.Gres) string {
	text := ""
	for _, g := range all {
		if text != "" {
			text += ","
		}
		if g.Type != "" {
			text += g.Type + ":"
		}
		text += itoa(g.Count)
	}
	return text
}

// resources are what the container of each pod asks for, and its limit.
func (b *builder) resources() corev1.ResourceRequirements {
	s := &b.size
	list := corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(s.cpus, resource.DecimalSI)}
	if s.memory > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(s.memory.Bytes(), resource.BinarySI)
	}
	if b.r.Tmp > 0 {
		list[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(b.r.Tmp.Bytes(), resource.BinarySI)
		b.by("tmp", container("resources.requests[ephemeral-storage]"))
	}
	for _, g := range s.gres {
		known, ok := b.p.GresOf(g.Name)
		if !ok {
			b.fail(unknownGres(b.p, g.Name))
			continue
		}
		total := list[known.Resource]
		total.Add(*resource.NewQuantity(g.Count, resource.DecimalSI))
		if total.Sign() > 0 {
			list[known.Resource] = total
		}
		for _, name := range []string{"gres", "gpus", "gpus-per-node", "gpus-per-task", "tres-per-task"} {
			b.by(name, container("resources.limits["+string(known.Resource)+"]"))
		}
	}
	b.licences(list)
	return corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
}

func unknownGres(p *profile.Profile, name string) error {
	return fault.Errorf("known are "+join(p.GresNames())+"; the site's profile may name others", "Batch job submission failed: Invalid generic resource (gres) specification: %s", name)
}

// licences are resources that the profile makes of them.
func (b *builder) licences(list corev1.ResourceList) {
	if b.r.Licenses == "" {
		return
	}
	all, err := value.ParseGres(b.r.Licenses)
	if err != nil {
		b.fail(fault.Errorf("write NAME or NAME:NUMBER with commas between", "Invalid --licenses specification"))
	}
	for _, one := range all {
		name, known := b.p.Licenses[one.Name]
		if !known {
			b.fail(fault.Errorf("the profile may map a licence to an extended resource", "--licenses is not supported here (the site's profile knows no licence %q)", one.Name))
			continue
		}
		list[corev1.ResourceName(name)] = *resource.NewQuantity(one.Count, resource.DecimalSI)
		b.by("licenses", container("resources.limits["+name+"]"))
	}
}
