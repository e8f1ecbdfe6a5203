// Package nodegroup restricts queues to groups of nodes, by the affinity in the queue's spec and by limits on the
// amounts that a queue may use in each group.
//
//	In:   node labels volcano.sh/nodegroup-name, Queue.spec.affinity, annotation volcano.sh/nodegroup-resource-limits
//	Out:  the nodes that a queue's pods may use, and the nodes that they prefer
package nodegroup

import (
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/nodecache"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the nodegroup policy.
type Policy struct {
	conf            config.Plugin
	strict, ordered bool

	s        *session.Session
	groups   nodecache.Table[string]
	labelled int
	held     nodecache.Table[holding]
	rules    map[*queue.Queue]*rules
	limits   map[*model.Queue]*limits
	words    string // the queues' settings for groups in the last cycle, to detect changes
	gen      uint64
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{
		conf:   conf,
		strict: conf.Arguments.Bool("strict", true, warn), ordered: conf.Arguments.Bool("enablePreferredOrder", false, warn),
		rules: map[*queue.Queue]*rules{}, limits: map[*model.Queue]*limits{},
	}
}

// Name returns "nodegroup".
func (*Policy) Name() string { return "nodegroup" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the node rule.
func (p *Policy) Open(s *session.Session) {
	p.s = s
	clear(p.rules)
	clear(p.limits)
	p.groups.Update(s.Cluster, func(id model.NodeID) string {
		if info := s.Cluster.Nodes.Info[id]; info != nil {
			return info.Labels[keys.NodeGroup]
		}
		return ""
	}, func(_ model.NodeID, old, now string) {
		if old != "" {
			p.labelled--
		}
		if now != "" {
			p.labelled++
		}
	})
	p.wakeOnChange()
	for _, q := range s.Ledger.Queues {
		p.countQueue(q.Queue)
	}
	rule := framework.NodeRule{Name: p.Name(), Applies: p.appliesToTask, Placed: p.updatePlaced, Evicted: p.updateEvicted}
	if p.conf.Enabled("enablePredicate") {
		rule.Allows = p.checkNodeGroup
	}
	if p.conf.Enabled("enableNodeOrder") {
		rule.Points = p.scoreNodeGroup
	}
	s.Rules.Nodes = append(s.Rules.Nodes, rule)
}

// wakeOnChange wakes waiting gangs if the queues' settings for groups have changed.
func (p *Policy) wakeOnChange() {
	if p.gen == p.s.Cluster.QueueSetGen {
		return
	}
	p.gen = p.s.Cluster.QueueSetGen
	words := settingsText(p.s.Ledger.Queues)
	if words == p.words {
		return
	}
	p.words = words
	p.held = nodecache.Table[holding]{} // recompute the used amounts, which cover only queues with limits
	for _, id := range p.s.View.Order {
		p.s.View.MarkChanged(id, true)
	}
}

func (p *Policy) appliesToTask(j *framework.Job, _ *model.Task) bool {
	return p.strict || p.labelled > 0 || !p.rulesOfQueue(j.In).none
}

// rulesOfQueue returns a queue's rules. With enableHierarchy, a queue without rules inherits the rules of its nearest
// ancestor that has any.
func (p *Policy) rulesOfQueue(q *queue.Queue) *rules {
	if r, ok := p.rules[q]; ok {
		return r
	}
	from := q
	if p.conf.Enabled("enableHierarchy") {
		for from.Affinity == nil && from.Parent != nil {
			from = from.Parent
		}
	}
	r := newRules(from.Affinity, p.ordered)
	p.rules[q] = r
	return r
}

func (p *Policy) checkNodeGroup(j *framework.Job, t *model.Task, id model.NodeID, later bool) (reason.Code, string) {
	group := p.groups.Values[id]
	r := p.rulesOfQueue(j.In)
	switch {
	case group == "" && (p.strict || !r.none):
		return reason.NodeGroupMismatch, "none"
	case group == "":
		return "", ""
	case !r.allowsGroup(group):
		return reason.NodeGroupMismatch, group
	}
	return p.checkLimits(j.In, t, group, later)
}

func (p *Policy) scoreNodeGroup(j *framework.Job, _ *model.Task, id model.NodeID) float64 {
	return p.rulesOfQueue(j.In).points[p.groups.Values[id]]
}
