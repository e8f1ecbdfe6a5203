// Package tasktopology places the tasks of one gang by what they want of each
// other: near (affinity), apart (anti-affinity), in an order. It sorts the pods
// into buckets, each of which is best on one node.
//
//	In:   the annotations of the PodGroup, its pods
//	Out:  rule TaskOrder, points of nodes
package tasktopology

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy is the policy task-topology.
type Policy struct {
	conf   config.Plugin
	weight float64
}

// New returns the policy; warn receives arguments that cannot be read.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{conf, float64(max(conf.Arguments.Int("task-topology.weight", 1, warn), 0))}
}

// Name is task-topology.
func (*Policy) Name() string { return "task-topology" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	m := &manager{s: s, weight: p.weight, plans: map[*model.Gang]*plan{}}
	s.Rules.Remarks = append(s.Rules.Remarks, remarks)
	if p.conf.Enabled("enableTaskOrder") {
		s.Rules.TaskOrder = append(s.Rules.TaskOrder, m.order)
	}
	if p.conf.Enabled("enableNodeOrder") {
		s.Rules.Nodes = append(s.Rules.Nodes, session.NodeRule{
			Name: p.Name(),
			Applies: func(j *session.Job, t *model.Task) bool {
				plan := m.plan(j.Gang)
				return plan != nil && plan.bucketOf[t] != nil
			},
			Points: m.points,
			Placed: m.placed,
		})
	}
}

// manager makes plans for the gangs of a cycle when they are asked for.
type manager struct {
	s      *session.Session
	weight float64
	plans  map[*model.Gang]*plan
}

func (m *manager) plan(g *model.Gang) *plan {
	p, known := m.plans[g]
	if !known {
		if w := wishesOf(g.Annotations); w != nil {
			p = newPlan(g, w)
		}
		m.plans[g] = p
	}
	return p
}

// order compares tasks of one gang: those with wishes first, larger buckets first.
func (m *manager) order(a, b *model.Task) int {
	if a.Gang == nil || a.Gang != b.Gang {
		return 0
	}
	p := m.plan(a.Gang)
	if p == nil {
		return 0
	}
	return p.compare(a, b)
}

// points of a node are how many of the task's bucket are there and would fit, and
// how many are there that it wants to be apart from; in parts of the largest
// bucket.
func (m *manager) points(j *session.Job, t *model.Task, id model.NodeID) float64 {
	p := m.plan(j.Gang)
	b := p.bucketOf[t]
	count := float64(b.on[id]) + float64(min(0, -p.against(t, id))) + float64(b.fitting(m.s, id))
	return count * m.weight * 100 / float64(p.largest)
}

// placed follows what the cycle tries.
func (m *manager) placed(j *session.Job, t *model.Task, id model.NodeID, sign int) {
	if j == nil {
		return
	}
	if p := m.plan(j.Gang); p != nil {
		p.placed(t, id, sign)
	}
}
