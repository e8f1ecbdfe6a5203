// Package numaaware places pods with exclusive CPUs on nodes where the kubelet can align the CPUs to NUMA nodes as
// its topology manager requires.
//
//	In:   the Numatopology of each node, the CPUs promised to pods that it does not list yet
//	Out:  the nodes whose kubelet would admit a pod, and the CPUs assumed for it (annotation vc-batch.dev/numa-cpus)
//
// Only pods of QoS class Guaranteed with a container that requests whole CPUs are checked.
//
// # Invariants
//
//   - The CPUs of two pods that this scheduler placed on the same node never overlap.
//   - Promised CPUs are computed only from pod annotations and the Numatopology.
package numaaware

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/numa"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/nodecache"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// static is the policy of the kubelet's CPU manager that gives containers exclusive CPUs.
const static = "static"

// Policy implements the numa-aware policy.
type Policy struct {
	conf   config.Plugin
	weight float64

	s       *session.Session
	nodes   nodecache.Drafts[node]
	granted map[*model.Task]assigned
}

// node holds the current state of a node's CPUs.
type node struct {
	numa *numa.Topology
	*topology
	now, later numa.CPUSet // free CPUs; later also includes the CPUs of leaving pods
	leaving    map[*model.Task]numa.CPUSet
	promised   map[*model.Task]numa.CPUSet // CPUs promised to tasks that are waiting for leaving tasks
	taken      map[*model.Task]numa.CPUSet
	answers    []known
}

// known is a cached answer. Pods of the same gang often have the same request.
type known struct {
	shape  *model.Shape
	later  bool
	answer answer
}

// remembered is the maximum number of cached answers per node. For so few entries, a linear search is faster than a
// map.
const remembered = 8

type answer struct {
	grant  assigned
	code   reason.Code
	detail string
	numas  int // number of NUMA nodes used
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{conf: conf, weight: float64(max(conf.Arguments.Int("weight", 1, warn), 0)), granted: map[*model.Task]assigned{}}
}

// Name returns "numa-aware".
func (*Policy) Name() string { return "numa-aware" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the node rule.
func (p *Policy) Open(s *session.Session) {
	p.s = s
	p.nodes.Open(s.Cluster)
	clear(p.granted)
	if !p.conf.Enabled("enablePredicate") {
		return
	}
	rule := framework.NodeRule{Name: p.Name(), Applies: p.appliesToTask, Allows: p.checkNodeForTask, Placed: p.updatePlaced, Evicted: p.updateEvicted, Annotations: p.grantAnnotations}
	if p.weight > 0 && p.conf.Enabled("enableNodeOrder") {
		rule.Rank = p.scoreCandidates
	}
	s.Rules.Nodes = append(s.Rules.Nodes, rule)
}

func (p *Policy) appliesToTask(_ *framework.Job, t *model.Task) bool {
	return t.Shape.Pinned && (requestedPolicy(t.Shape) != "" || len(p.s.Cluster.Numa) > 0)
}

// requestedPolicy returns the topology policy that a pod requests, or "" if it does not request one.
func requestedPolicy(s *model.Shape) string {
	if want := s.Notes[keys.NumaPolicy]; want != policyNone {
		return want
	}
	return ""
}

// loadNodeState computes the state of a node's CPUs. The free CPUs are those that the agent reports as free, minus the
// CPUs of pods that the agent does not list yet.
func (p *Policy) loadNodeState(id model.NodeID) *node {
	nodes := &p.s.Cluster.Nodes
	n := &node{
		numa:    p.s.Cluster.Numa[nodes.Name[id]],
		leaving: map[*model.Task]numa.CPUSet{}, promised: map[*model.Task]numa.CPUSet{}, taken: map[*model.Task]numa.CPUSet{},
	}
	if n.numa == nil || n.numa.Problem != "" || len(n.numa.CPUs) == 0 {
		return n
	}
	n.topology = newTopology(n.numa)
	n.now = n.numa.Free.And(n.all).Minus(n.reserved)
	n.later = n.now
	var promised []*model.Task
	var stay numa.CPUSet
	for _, t := range nodes.Tasks[id] {
		text, isGiven := t.Annotations[keys.NumaCPUs]
		if t.Status == model.Pipelined && t.Shape.Pinned {
			promised = append(promised, t)
		}
		if !isGiven || !t.Status.CountsOnNode() {
			continue
		}
		a, err := parseAssigned(text)
		if err != nil {
			continue
		}
		cpus := a.allAssignedCPUs().And(n.all)
		listed := n.numa.HasSeenPod(t.UID, t.Key())
		if listed { // the agent's report takes precedence, because the kubelet may have chosen other CPUs
			cpus = cpus.Minus(n.numa.Free)
		} else {
			n.now = n.now.Minus(cpus)
		}
		switch {
		case t.Status == model.Releasing: // the task keeps its CPUs until it is gone
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
	n.later = n.later.Minus(stay) // these CPUs stay in use even if other pods leave
	slices.SortFunc(promised, func(a, b *model.Task) int { return strings.Compare(a.Key(), b.Key()) })
	for _, t := range promised {
		if got := n.cachedAnswer(t.Shape, true); got.code == "" {
			n.reserveCPUs(t, got.grant.allAssignedCPUs())
		}
	}
	return n
}

func (n *node) reserveCPUs(t *model.Task, cpus numa.CPUSet) {
	n.promised[t] = cpus
	n.later = n.later.Minus(cpus)
	n.answers = n.answers[:0]
}

// nodeCPUState returns the current state of a node's CPUs.
func (p *Policy) nodeCPUState(id model.NodeID) *node { return p.nodes.GetOrLoad(id, p.loadNodeState) }

// changedNodeCPUState is like nodeCPUState, but for a node whose CPUs are about to be changed in this cycle. It drops
// the node's cached answers.
func (p *Policy) changedNodeCPUState(id model.NodeID) *node {
	n := p.nodes.GetForChange(id, p.loadNodeState)
	n.answers = n.answers[:0]
	return n
}

func (p *Policy) checkNodeForTask(_ *framework.Job, t *model.Task, id model.NodeID, later bool) (reason.Code, string) {
	a := p.nodeCPUState(id).cachedAnswer(t.Shape, later)
	return a.code, a.detail
}

// cachedAnswer returns whether the node's kubelet would admit a pod of a shape, and the CPUs that the pod would get.
func (n *node) cachedAnswer(s *model.Shape, later bool) answer {
	for i := range n.answers {
		if k := &n.answers[i]; k.shape == s && k.later == later {
			return k.answer
		}
	}
	a := n.checkShape(s, later)
	if len(n.answers) == remembered {
		n.answers = n.answers[:0]
	}
	n.answers = append(n.answers, known{s, later, a})
	return a
}

func (n *node) checkShape(s *model.Shape, later bool) answer {
	want := requestedPolicy(s)
	if n.numa == nil {
		if want == "" {
			return answer{}
		}
		return answer{code: reason.NumaUnknown, detail: "no Numatopology"}
	}
	policy := n.numa.TopologyManager
	alignsCPUs := n.numa.CPUManager == static && policy != "" && policy != policyNone
	switch {
	case want == "" && !alignsCPUs:
		return answer{} // this node's kubelet does not align CPUs
	case n.numa.Problem != "":
		return answer{code: reason.NumaUnknown, detail: n.numa.Problem}
	case n.numa.CPUManager != static:
		return answer{code: reason.NumaPolicyMismatch, detail: "the node's CPU manager policy is not static"}
	case want != "" && want != policy:
		return answer{code: reason.NumaPolicyMismatch, detail: fmt.Sprintf("the pod requires policy %s, but the node has policy %s", want, policyOrNone(policy))}
	case len(n.numa.CPUs) == 0:
		return answer{code: reason.NumaUnknown, detail: "no cpuDetail"}
	case !n.numa.HasFree || (n.numa.Free.IsEmpty() && len(n.leaving) == 0):
		return answer{code: reason.NumaUnknown, detail: "the node reports no free CPUs"}
	}
	return n.simulateKubelet(s, policy, later)
}

func policyOrNone(policy string) string {
	if policy == "" {
		return policyNone
	}
	return policy
}

// assignableCPUs returns the CPUs that may be assigned. It never includes promised CPUs, even if they are already idle.
func (n *node) assignableCPUs(later bool) numa.CPUSet {
	if later {
		return n.later
	}
	out := n.now
	for _, cpus := range n.promised {
		out = out.Minus(cpus)
	}
	return out
}

// simulateKubelet assigns CPUs container by container, as the kubelet would do.
func (n *node) simulateKubelet(s *model.Shape, policy string, later bool) answer {
	free := n.assignableCPUs(later)
	var out answer
	var used numa.CPUSet
	var reusable numa.CPUSet // CPUs of an init container can be used by the next containers
	for i := range s.Containers {
		c := &s.Containers[i]
		if c.MilliCPU == 0 || c.MilliCPU%1000 != 0 {
			continue // the container uses the shared CPU pool
		}
		count := int(min(c.MilliCPU/1000, 1<<20))
		available := free.Union(reusable)
		mask, ok := admitHints(policy, n.findNumaHints(available, count))
		var cpus numa.CPUSet
		if ok {
			cpus, ok = n.assignCPUs(available, mask, count)
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
	out.numas = bits.OnesCount64(n.numaMaskOf(used))
	return out
}

// scoreCandidates prefers nodes on which the pod would use fewer NUMA nodes. It scales the points over the candidates.
func (p *Policy) scoreCandidates(_ *framework.Job, t *model.Task, nodes []model.NodeID, points []float64) {
	least, most := 1<<30, 0
	numas := make([]int, len(nodes))
	for i, id := range nodes {
		numas[i] = p.nodeCPUState(id).cachedAnswer(t.Shape, false).numas
		least, most = min(least, numas[i]), max(most, numas[i])
	}
	if least == most {
		return
	}
	for i := range nodes {
		points[i] += p.weight * 100 * float64(most-numas[i]) / float64(most-least)
	}
}

// updatePlaced assigns CPUs to a task, or releases them if the placement is undone.
func (p *Policy) updatePlaced(_ *framework.Job, t *model.Task, id model.NodeID, sign int) {
	if !t.Shape.Pinned {
		return
	}
	n := p.changedNodeCPUState(id)
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
	if got := n.cachedAnswer(t.Shape, false); got.code == "" && len(got.grant) > 0 {
		cpus := got.grant.allAssignedCPUs()
		n.now, n.later = n.now.Minus(cpus), n.later.Minus(cpus)
		n.taken[t] = cpus
		p.granted[t] = got.grant
	} else if got := n.cachedAnswer(t.Shape, true); got.code == "" && len(got.grant) > 0 {
		n.reserveCPUs(t, got.grant.allAssignedCPUs())
	}
	n.answers = n.answers[:0]
}

// updateEvicted counts the CPUs of an evicted task as free in the future, or stops doing so if the eviction is undone.
func (p *Policy) updateEvicted(t *model.Task, sign int) {
	if !t.Shape.Pinned || t.Node == model.NoNode {
		return
	}
	n := p.changedNodeCPUState(t.Node)
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

func (p *Policy) grantAnnotations(_ *framework.Job, t *model.Task, _ model.NodeID) map[string]string {
	if a := p.granted[t]; len(a) > 0 {
		return map[string]string{keys.NumaCPUs: a.String()}
	}
	return nil
}
