// Package tasktopology places the tasks of a gang according to rules between them: near each other (affinity), apart
// from each other (anti-affinity), and in a given order. It divides the pods into buckets so that the pods in each
// bucket are best placed on the same node.
//
//	In:   the annotations of the PodGroup, its pods
//	Out:  rule TaskOrder, node scores
package tasktopology

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the task-topology policy.
type Policy struct {
	conf   config.Plugin
	weight float64
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{conf, float64(max(conf.Arguments.Int("task-topology.weight", 1, warn), 0))}
}

// Name returns "task-topology".
func (*Policy) Name() string { return "task-topology" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	m := &manager{s: s, weight: p.weight, plans: map[*model.Gang]*plan{}}
	s.Rules.Remarks = append(s.Rules.Remarks, unknownTaskWarnings)
	if p.conf.Enabled("enableTaskOrder") {
		s.Rules.TaskOrder = append(s.Rules.TaskOrder, m.compareTasks)
	}
	if p.conf.Enabled("enableNodeOrder") {
		s.Rules.Nodes = append(s.Rules.Nodes, framework.NodeRule{
			Name: p.Name(),
			Applies: func(j *framework.Job, t *model.Task) bool {
				plan := m.planOfGang(j.Gang)
				return plan != nil && plan.bucketOf[t] != nil
			},
			Points: m.scoreNodeForTask,
			Placed: m.updatePlaced,
		})
	}
}

// manager creates the plan for each gang when it is first needed in a cycle.
type manager struct {
	s      *session.Session
	weight float64
	plans  map[*model.Gang]*plan
}

func (m *manager) planOfGang(g *model.Gang) *plan {
	p, known := m.plans[g]
	if !known {
		if w := parseWishes(g.Annotations); w != nil {
			p = newPlan(g, w)
		}
		m.plans[g] = p
	}
	return p
}

// compareTasks compares two tasks of a gang: tasks with rules come first, and larger buckets come first.
func (m *manager) compareTasks(a, b *model.Task) int {
	if a.Gang == nil || a.Gang != b.Gang {
		return 0
	}
	p := m.planOfGang(a.Gang)
	if p == nil {
		return 0
	}
	return p.compareTasks(a, b)
}

// scoreNodeForTask returns the score of a node for a task. It is the number of pods in the task's bucket that are on
// the node or would fit on it, minus the number of pods there from which the task should be separated, relative to the
// size of the largest bucket.
func (m *manager) scoreNodeForTask(j *framework.Job, t *model.Task, id model.NodeID) float64 {
	p := m.planOfGang(j.Gang)
	b := p.bucketOf[t]
	count := float64(b.on[id]) + float64(min(0, -p.countRepelled(t, id))) + float64(b.countFitting(m.s, id))
	return count * m.weight * 100 / float64(p.largest)
}

// updatePlaced updates the plan after a pod was placed on a node, or after the placement was undone.
func (m *manager) updatePlaced(j *framework.Job, t *model.Task, id model.NodeID, sign int) {
	if j == nil {
		return
	}
	if p := m.planOfGang(j.Gang); p != nil {
		p.updatePlaced(t, id, sign)
	}
}
