// Package numaaware places pods that get cpus of their own on nodes where the
// kubelet can align these to NUMA nodes as its topology manager demands.
//
//	In:   Numatopology of nodes, what of it was promised to pods that do not show in it yet
//	Out:  which nodes would admit a pod, and which cpus it is counted with (annotation vc-batch.dev/numa-cpus)
//
// Only pods of class Guaranteed with whole cpus in a container are judged.
//
// # Invariants
//
//   - On one node the cpus of two pods that were placed here never meet.
//   - What was promised follows from annotations of pods and the Numatopology alone.
package numaaware

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// static is the kubelet's cpu manager policy that gives containers cpus of their own.
const static = "static"

// Policy is the policy numa-aware.
type Policy struct {
	conf   config.Plugin
	weight float64

	s       *session.Session
	nodes   session.NodeDrafts[node]
	granted map[*model.Task]assigned
}

// node is a node's cpus as they are now.
type node struct {
	numa *model.Numa
	*topology
	now, later model.CPUSet // free; later: once those who leave are gone
	leaving    map[*model.Task]model.CPUSet
	promised   map[*model.Task]model.CPUSet // to tasks that wait for those who leave
	taken      map[*model.Task]model.CPUSet
	answers    []known
}

// known is an answer that was given before; gangs ask for the same again and again.
type known struct {
	shape  *model.Shape
	later  bool
	answer answer
}

// remembered is how many answers a node keeps: looking through a few is quicker than a map.
const remembered = 8

type answer struct {
	grant  assigned
	code   reason.Code
	detail string
	numas  int // NUMA nodes used
}

// New returns the policy; warn receives arguments that cannot be read.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{conf: conf, weight: float64(max(conf.Arguments.Int("weight", 1, warn), 0)), granted: map[*model.Task]assigned{}}
}

// Name is numa-aware.
func (*Policy) Name() string { return "numa-aware" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rule.
func (p *Policy) Open(s *session.Session) {
	p.s = s
	p.nodes.Open(s)
	clear(p.granted)
	if !p.conf.Enabled("enablePredicate") {
		return
	}
	rule := session.NodeRule{Name: p.Name(), Applies: p.applies, Allows: p.allows, Placed: p.placed, Evicted: p.evicted, Annotations: p.annotations}
	if p.weight > 0 && p.conf.Enabled("enableNodeOrder") {
		rule.Rank = p.rank
	}
	s.Rules.Nodes = append(s.Rules.Nodes, rule)
}

func (p *Policy) applies(_ *session.Job, t *model.Task) bool {
	return t.Shape.Pinned && (wanted(t.Shape) != "" || len(p.s.Cluster.Numa) > 0)
}

// wanted is the topology policy that a pod asks for; "" when it does not care.
func wanted(s *model.Shape) string {
	if want := s.Notes[keys.NumaPolicy]; want != policyNone {
		return want
	}
	return ""
}

// load reads a node: free cpus are those the agent says are, without those of
// pods that it does not list yet.
func (p *Policy) load(id model.NodeID) *node {
	nodes := &p.s.Cluster.Nodes
	n := &node{
		numa:    p.s.Cluster.Numa[nodes.Name[id]],
		leaving: map[*model.Task]model.CPUSet{}, promised: map[*model.Task]model.CPUSet{}, taken: map[*model.Task]model.CPUSet{},
	}
	if n.numa == nil || n.numa.Problem != "" || len(n.numa.CPUs) == 0 {
		return n
	}
	n.topology = newTopology(n.numa)
	n.now = n.numa.Free.And(n.all).Minus(n.reserved)
	n.later = n.now
	var promised []*model.Task
	var stay model.CPUSet
	for _, t := range nodes.Tasks[id] {
		text, told := t.Annotations[keys.NumaCPUs]
		if t.Status == model.Pipelined && t.Shape.Pinned {
			promised = append(promised, t)
		}
		if !told || !t.Status.OnNode() {
			continue
		}
		a, err := parseAssigned(text)
		if err != nil {
			continue
		}
		cpus := a.sum().And(n.all)
		listed := n.numa.Shows(t)
		if listed { // the agent's word holds: the kubelet may have chosen others
			cpus = cpus.Minus(n.numa.Free)
		} else {
			n.now = n.now.Minus(cpus)
		}
		switch {
		case t.Status == model.Releasing: // theirs until they are gone
			n.leaving[t] = cpus
			n.later = n.later.Union(cpus)
		case !listed:
			n.later = n.later.Minus(cpus)
			stay = stay.Union(cpus)
			n.taken[t] = cpus
		default:
			n.taken[t] = cpus
		}
	}
	n.later = n.later.Minus(stay) // whoever leaves
	slices.SortFunc(promised, func(a, b *model.Task) int { return strings.Compare(a.Key(), b.Key()) })
	for _, t := range promised {
		if got := n.answer(t.Shape, true); got.code == "" {
			n.promise(t, got.grant.sum())
		}
	}
	return n
}

func (n *node) promise(t *model.Task, cpus model.CPUSet) {
	n.promised[t] = cpus
	n.later = n.later.Minus(cpus)
	n.answers = n.answers[:0]
}

// node is a node's cpus as they are now.
func (p *Policy) node(id model.NodeID) *node { return p.nodes.At(id, p.load) }

// change is node for one where this cycle tries something.
func (p *Policy) change(id model.NodeID) *node {
	n := p.nodes.Change(id, p.load)
	n.answers = n.answers[:0]
	return n
}

func (p *Policy) allows(_ *session.Job, t *model.Task, id model.NodeID, later bool) (reason.Code, string) {
	a := p.node(id).answer(t.Shape, later)
	return a.code, a.detail
}

// answer says whether a node's kubelet would admit pods of a shape, and with
// which cpus.
func (n *node) answer(s *model.Shape, later bool) answer {
	for i := range n.answers {
		if k := &n.answers[i]; k.shape == s && k.later == later {
			return k.answer
		}
	}
	a := n.judge(s, later)
	if len(n.answers) == remembered {
		n.answers = n.answers[:0]
	}
	n.answers = append(n.answers, known{s, later, a})
	return a
}

func (n *node) judge(s *model.Shape, later bool) answer {
	want := wanted(s)
	if n.numa == nil {
		if want == "" {
			return answer{}
		}
		return answer{code: reason.NumaUnknown, detail: "no Numatopology"}
	}
	policy := n.numa.TopologyManager
	switch {
	case want == "" && (n.numa.CPUManager != static || policy == "" || policy == policyNone):
		return answer{} // the kubelet there aligns nothing
	case n.numa.Problem != "":
		return answer{code: reason.NumaUnknown, detail: n.numa.Problem}
	case n.numa.CPUManager != static:
		return answer{code: reason.NumaPolicyMismatch, detail: "its cpu manager is not static"}
	case want != "" && want != policy:
		return answer{code: reason.NumaPolicyMismatch, detail: fmt.Sprintf("%s wanted, the node has %s", want, orNone(policy))}
	case len(n.numa.CPUs) == 0:
		return answer{code: reason.NumaUnknown, detail: "no cpuDetail"}
	case !n.numa.HasFree || n.numa.Free.Empty() && len(n.leaving) == 0:
		return answer{code: reason.NumaUnknown, detail: "no free cpus are listed"}
	}
	return n.simulate(s, policy, later)
}

func orNone(policy string) string {
	if policy == "" {
		return policyNone
	}
	return policy
}

// free are the cpus that may be given away. What is promised is not, now either:
// it may be idle already.
func (n *node) free(later bool) model.CPUSet {
	if later {
		return n.later
	}
	out := n.now
	for _, cpus := range n.promised {
		out = out.Minus(cpus)
	}
	return out
}

// simulate does what the kubelet will: container by container.
func (n *node) simulate(s *model.Shape, policy string, later bool) answer {
	free := n.free(later)
	var out answer
	var used model.CPUSet
	var reusable model.CPUSet // an init container's cpus are free again for the next ones
	for i := range s.Containers {
		c := &s.Containers[i]
		if c.MilliCPU == 0 || c.MilliCPU%1000 != 0 {
			continue // it shares the pool
		}
		count := int(min(c.MilliCPU/1000, 1<<20))
		available := free.Union(reusable)
		mask, ok := admit(policy, n.hints(available, count))
		var cpus model.CPUSet
		if ok {
			cpus, ok = n.assign(available, mask, count)
		}
		if !ok {
			return answer{code: reason.NumaUnaligned, detail: fmt.Sprintf("container %s, %d cpus", c.Name, count)}
		}
		out.grant = append(out.grant, containerCPUs{c.Name, cpus})
		free = free.Minus(cpus)
		if c.Init {
			reusable = reusable.Union(cpus)
		} else {
			reusable = reusable.Minus(cpus)
		}
		used = used.Union(cpus)
	}
	out.numas = bits.OnesCount64(n.numasOf(used))
	return out
}

// rank prefers nodes where the pod uses fewer NUMA nodes, measured by the
// candidates.
func (p *Policy) rank(_ *session.Job, t *model.Task, nodes []model.NodeID, points []float64) {
	least, most := 1<<30, 0
	numas := make([]int, len(nodes))
	for i, id := range nodes {
		numas[i] = p.node(id).answer(t.Shape, false).numas
		least, most = min(least, numas[i]), max(most, numas[i])
	}
	if least == most {
		return
	}
	for i := range nodes {
		points[i] += p.weight * 100 * float64(most-numas[i]) / float64(most-least)
	}
}

// placed gives a task cpus, or takes them back.
func (p *Policy) placed(_ *session.Job, t *model.Task, id model.NodeID, sign int) {
	if !t.Shape.Pinned {
		return
	}
	n := p.change(id)
	if n.topology == nil {
		return
	}
	if sign < 0 {
		if cpus, ok := n.promised[t]; ok {
			n.later = n.later.Union(cpus)
			delete(n.promised, t)
		} else if cpus, ok := n.taken[t]; ok {
			n.now, n.later = n.now.Union(cpus), n.later.Union(cpus)
			delete(n.taken, t)
		}
		delete(p.granted, t)
		n.answers = n.answers[:0]
		return
	}
	if got := n.answer(t.Shape, false); got.code == "" && len(got.grant) > 0 {
		cpus := got.grant.sum()
		n.now, n.later = n.now.Minus(cpus), n.later.Minus(cpus)
		n.taken[t] = cpus
		p.granted[t] = got.grant
	} else if got := n.answer(t.Shape, true); got.code == "" && len(got.grant) > 0 {
		n.promise(t, got.grant.sum())
	}
	n.answers = n.answers[:0]
}

// evicted counts a task's cpus as free later, or not.
func (p *Policy) evicted(t *model.Task, sign int) {
	if !t.Shape.Pinned || t.Node == model.NoNode {
		return
	}
	n := p.change(t.Node)
	if sign > 0 {
		if cpus, ok := n.taken[t]; ok {
			delete(n.taken, t)
			n.leaving[t] = cpus
			n.later = n.later.Union(cpus)
		}
	} else if cpus, ok := n.leaving[t]; ok {
		delete(n.leaving, t)
		n.taken[t] = cpus
		n.later = n.later.Minus(cpus)
	}
	n.answers = n.answers[:0]
}

func (p *Policy) annotations(_ *session.Job, t *model.Task, _ model.NodeID) map[string]string {
	if a := p.granted[t]; len(a) > 0 {
		return map[string]string{keys.NumaCPUs: a.String()}
	}
	return nil
}
