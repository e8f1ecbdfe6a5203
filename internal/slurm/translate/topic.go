package translate

import (
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
)

// source holds the input of all topics. It is not changed after it has been created.
type source struct {
	Input
	r *request.Request
	// p is the profile without the volumes that the job does not mount.
	p           *profile.Profile
	title, name string
}

// target is the place where a job runs. It consists of a partition, and of the queue and the namespace that follow from
// the partition and the account.
type target struct{ partition, queue, namespace string }

// size is the size of a job: the number of pods and the resources of each pod.
type size struct {
	// nodes is the number of pods in the job or, for an array, in each element. least is the minimum number of pods.
	nodes, least int
	// tasks is the total number of tasks that srun starts. onNode is the largest number of tasks in a pod.
	tasks, onNode int64
	// cpus, memory and gres are the resources of each pod. If memory is 0, the pods request no memory.
	cpus   int64
	memory optionvalue.MiB
	gres   []optionvalue.Gres
}

// topic computes one part of a job. It reads the source and the results of earlier topics, and changes only its part.
type topic struct {
	*source
	target target
	size   size
	part
}

// hasNodeTask reports whether the job has a second task, which contains all nodes except the first.
func (b *topic) hasNodeTask() bool { return b.r.Array == nil && b.size.nodes > 1 }

// fieldPaths returns the paths of a field in the pod templates of all tasks.
func (b *topic) fieldPaths(field string) []string {
	all := []string{taskPath(0) + ".template.spec." + field}
	if b.hasNodeTask() {
		all = append(all, taskPath(1)+".template.spec."+field)
	}
	return all
}

// usesLocalPrograms reports whether jobs run the programs of the submitting machine. This is the case if all nodes are
// process nodes, or if the profile belongs to vc-local.
func (b *source) usesLocalPrograms() bool { return b.Facts.Helper || b.p.DefaultImage == processImage }

// processImage is the image name that is used on nodes that run the machine's own programs and ignore images.
const processImage = "this-machine"

// wholeNode is the value of --exclusive if the option is specified without a value.
const wholeNode = "exclusive"
