package reservation

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// templateSlots counts how many pods of a template fit on each node.
type templateSlots struct {
	template *framework.Template
	at       []int32 // by node rank
	sum      int
}

// countTemplateSlots counts the slots for the templates of a gang that has no pods yet.
func (f *forecaster) countTemplateSlots(j *framework.Job) {
	s := f.s
	list, _ := j.PodTemplates()
	s.Walked += len(list) * len(s.View.Order)
	for i := range list {
		n := &templateSlots{template: &list[i], at: make([]int32, len(s.View.Order))}
		for _, id := range s.View.Order {
			n.recountNode(s, id)
		}
		f.templates[j] = append(f.templates[j], n)
	}
}

// recountNode updates the count for a node whose free resources changed.
func (n *templateSlots) recountNode(s *Planner, id model.NodeID) {
	rank := s.View.Rank[id]
	if rank < 0 {
		return
	}
	now := int32(0)
	if s.AllowsTemplate(id, n.template) {
		now = SlotsIn(n.template.Request, s.View.Nodes.Row(s.View.Idle, id), s.View.Nodes.Row(s.View.Future, id))
	}
	n.sum += int(now - n.at[rank])
	n.at[rank] = now
}

// areTooFew reports whether the pods of the template do not fit, judging only by the nodes' free resources.
func (n *templateSlots) areTooFew() bool { return n.sum < n.template.Count }
