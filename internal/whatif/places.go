package whatif

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// maxNamed bounds how many victims an answer lists by name.
const maxNamed = 500

// placements collects the nodes of one job's pods.
type placements struct {
	tasks       map[types.UID]string
	count       map[insightv1alpha1.Placement]int32
	pods, later int32
}

func newPlacements(pods []*corev1.Pod) *placements {
	p := &placements{tasks: map[types.UID]string{}, count: map[insightv1alpha1.Placement]int32{}}
	for _, pod := range pods {
		p.tasks[pod.UID] = pod.Labels[keys.TaskSpec]
	}
	return p
}

// addPlacedPod records a pod's node. It ignores pods of other jobs.
func (p *placements) addPlacedPod(pod types.UID, node string, later bool) {
	task, ours := p.tasks[pod]
	if !ours {
		return
	}
	p.count[insightv1alpha1.Placement{Node: node, Task: task, Later: later}]++
	p.pods++
	if later {
		p.later++
	}
}

// sortedPlacements returns the placements sorted by node and task.
func (p *placements) sortedPlacements() []insightv1alpha1.Placement {
	list := make([]insightv1alpha1.Placement, 0, len(p.count))
	for place, n := range p.count {
		place.Pods = n
		list = append(list, place)
	}
	slices.SortFunc(list, func(a, b insightv1alpha1.Placement) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Pods, b.Pods))
	})
	return list
}

// describePlacements returns a sentence with the numbers of pods and nodes.
func (p *placements) describePlacements(all int32) string {
	nodes := map[string]bool{}
	for place := range p.count {
		nodes[place.Node] = true
	}
	return fmt.Sprintf("%d of %s on %s", p.pods, countWithNoun(int(all), "pod"), countWithNoun(len(nodes), "node"))
}

// listVictims returns the evicted pods, in the order of the decision, up to maxNamed, and their total number.
func listVictims(evicts []decision.Evict, c *model.Cluster) ([]insightv1alpha1.Victim, int32) {
	var list []insightv1alpha1.Victim
	for i := range evicts {
		e := &evicts[i]
		if len(list) == maxNamed {
			break
		}
		v := insightv1alpha1.Victim{Namespace: e.Pod.Namespace, Pod: e.Pod.Name, Node: e.Node, Reason: e.Reason, Message: e.Message}
		if t := c.Task(e.Pod.UID); t != nil {
			v.Job = t.Labels[keys.JobName]
			if t.Gang != nil && t.Gang.Queue != nil {
				v.Queue = t.Gang.Queue.Name
			}
		}
		if e.Preemptor.Name != "" {
			v.For = e.Preemptor.Key()
		}
		list = append(list, v)
	}
	return list, int32(len(evicts))
}

// startingGang identifies an existing gang that would start.
func startingGang(b *decision.Bind, c *model.Cluster) insightv1alpha1.StartingGang {
	s := insightv1alpha1.StartingGang{Namespace: b.Gang.Namespace, Name: b.Gang.Name}
	if t := c.Task(b.Pod.UID); t != nil {
		s.Name = cmp.Or(t.Labels[keys.JobName], s.Name)
		if t.Gang != nil && t.Gang.Queue != nil {
			s.Queue = t.Gang.Queue.Name
		}
	}
	if s.Name == "" {
		s.Namespace, s.Name = b.Pod.Namespace, b.Pod.Name
	}
	return s
}
