package processnode

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/local/processnode/processtree"
)

// ContainerUse is the measured use of a running container.
type ContainerUse struct {
	Pod       types.NamespacedName
	PodLabels labels.Set
	// Container is the name, and ID identifies one run of the container.
	Container, ID string
	StartedAt     time.Time
	// CPUTime is the time since the start of the container.
	CPUTime     time.Duration
	MemoryBytes int64
}

// MeasureContainers measures all running containers of the node. The values come from control groups. If a container
// has no control group for a value, the value comes from processes.
func (n *Node) MeasureContainers(processes *processtree.Tree) []ContainerUse {
	n.mu.Lock()
	workers := make([]*worker, 0, len(n.workers))
	for _, w := range n.workers {
		workers = append(workers, w)
	}
	n.mu.Unlock()
	var all []ContainerUse
	for _, w := range workers {
		for _, a := range w.runningAttempts() {
			all = append(all, a.measureUse(processes))
		}
	}
	slices.SortFunc(all, func(a, b ContainerUse) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// runningAttempts returns the running attempts of all containers.
func (w *worker) runningAttempts() []*attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*attempt, 0, len(w.attempts))
	for _, a := range w.attempts {
		all = append(all, a)
	}
	return all
}

func (a *attempt) measureUse(processes *processtree.Tree) ContainerUse {
	below, group := processes.UseBelow(a.container.InitPID()), a.group.ReadUse()
	use := ContainerUse{
		Pod: types.NamespacedName{Namespace: a.pod.Namespace, Name: a.pod.Name}, PodLabels: a.pod.Labels,
		Container: a.spec.Name, ID: a.id, StartedAt: a.startedAt, CPUTime: below.CPUTime, MemoryBytes: below.MemoryBytes,
	}
	if group.CPUTime != nil {
		use.CPUTime = *group.CPUTime
	}
	if group.MemoryBytes != nil {
		use.MemoryBytes = *group.MemoryBytes
	}
	return use
}
