package interpod

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// PodCounts stores the counts of pods by topology domain. Each engine has its own PodCounts.
type PodCounts struct {
	// Relieved is true if a pod with anti-affinity was removed since the last cycle. Other pods may then fit on nodes
	// that did not change.
	Relieved bool

	cluster *model.Cluster
	view    *overlay.Overlay
	judge   *equivalence.Judge

	// Terms and node sets that several shapes may use; each is stored once.
	rules       map[*model.Shape]*rules
	matchers    map[string]*matcher
	index       index
	fresh       []*matcher // matchers whose pods have not been counted yet
	topologies  map[string]*topology
	keys        []*topology
	eligibles   map[string]*eligible
	sets        []*eligible
	spreads     []*tally
	byNamespace bool // some term selects namespaces by their labels

	nodes      []counted // by model.NodeID
	seen       uint64    // model generation up to which changes were read
	namespaces uint64
	touched    []model.NodeID // nodes that differ from the model because of changes in this cycle
	recounted  []uint64       // by model.NodeID: number of the Open call that last counted the node
	opens      uint64

	profiles  map[*model.Shape][]*Profile
	groupings map[string]*grouping
	scratch
}

// scratch holds buffers that are reused between calls.
type scratch struct {
	before       []hold
	found        []*matcher
	lastTask     *model.Task
	lastMatching []*matcher
	around       []*tally
	candidates   candidates
}

// counted holds the contribution of one node to the tallies.
type counted struct {
	matched []match
	held    []hold
	touched bool
}

type match struct {
	m          *matcher
	here, gone int32
}

type hold struct {
	r          *rules
	here, gone int32
}

// Open updates the counts from the model. The overlay must be up to date.
func (pc *PodCounts) Open(c *model.Cluster, view *overlay.Overlay, judge *equivalence.Judge) {
	pc.cluster, pc.view, pc.judge = c, view, judge
	pc.Relieved = false
	pc.lastTask = nil
	slow := 0
	for _, s := range c.Shapes {
		if s != nil && s.Slow {
			slow++
		}
	}
	if slow == 0 && len(pc.rules) == 0 {
		return
	}
	hasManyOldRules := len(pc.rules) > 2*slow+64
	hasOldNamespaces := pc.byNamespace && pc.namespaces != c.NamespaceGen
	isUnset := slow == 0 || pc.rules == nil
	if isUnset || hasManyOldRules || hasOldNamespaces {
		relieved := len(pc.rules) > 0
		pc.reset()
		pc.Relieved = relieved
	}
	pc.namespaces = c.NamespaceGen
	if slow == 0 {
		return
	}
	pc.opens++
	pc.growRows(c.Nodes.Len())
	for _, s := range c.Shapes {
		if s != nil && s.Slow && pc.rules[s] == nil {
			pc.rules[s] = pc.compileRules(s)
		}
	}
	pc.recountChanged()
	pc.countNewMatchers()
	pc.seen = c.Gen()
}

// hasRules reports whether any shape has rules about other pods.
func (pc *PodCounts) hasRules() bool { return pc != nil && len(pc.rules) > 0 }

func (pc *PodCounts) reset() {
	relieved := pc.Relieved
	*pc = PodCounts{
		Relieved: relieved, cluster: pc.cluster, view: pc.view, judge: pc.judge,
		rules: map[*model.Shape]*rules{}, matchers: map[string]*matcher{}, topologies: map[string]*topology{},
		eligibles: map[string]*eligible{}, profiles: map[*model.Shape][]*Profile{}, groupings: map[string]*grouping{},
	}
}

func (pc *PodCounts) growRows(n int) {
	for len(pc.nodes) < n {
		pc.nodes = append(pc.nodes, counted{})
		pc.recounted = append(pc.recounted, 0)
	}
	for _, top := range pc.keys {
		for len(top.domain) < n {
			top.domain = append(top.domain, none)
		}
	}
	for _, e := range pc.sets {
		for len(e.nodes) < n {
			e.nodes = append(e.nodes, false)
		}
	}
}

// liveNodeInfo returns the labels and taints of a live node. It returns nil if the node is not alive.
func (pc *PodCounts) liveNodeInfo(id model.NodeID) *model.NodeInfo {
	if !pc.cluster.Nodes.Alive[id] {
		return nil
	}
	return pc.cluster.Nodes.Info[id]
}

// recountChanged recounts the pods on the nodes that changed.
func (pc *PodCounts) recountChanged() {
	for _, id := range pc.touched {
		pc.nodes[id].touched = false
		pc.recountNode(id)
	}
	pc.touched = pc.touched[:0]
	if pc.seen > 0 && pc.cluster.NodesSince(pc.seen, pc.recountNode) {
		return
	}
	for id := range pc.nodes {
		pc.recountNode(model.NodeID(id))
	}
}

// recountNode replaces a node's contribution to the tallies with its current state in the model.
func (pc *PodCounts) recountNode(id model.NodeID) {
	if pc.recounted[id] == pc.opens {
		return
	}
	pc.recounted[id] = pc.opens
	n := &pc.nodes[id]
	pc.addToTallies(n, id, -1)
	if pc.seen == 0 || pc.cluster.Nodes.Labeled[id] > pc.seen {
		pc.updateDomains(id)
	}
	before := append(pc.before[:0], n.held...)
	n.matched, n.held = n.matched[:0], n.held[:0]
	if pc.cluster.Nodes.Alive[id] {
		for _, t := range pc.cluster.Nodes.Tasks[id] {
			if t.Status == model.Pipelined {
				continue
			}
			gone := int32(0)
			if t.Status == model.Releasing {
				gone = 1
			}
			pc.countTask(n, t, 1, gone)
		}
	}
	pc.addToTallies(n, id, 1)
	pc.before = before
	pc.Relieved = pc.Relieved || hasLostRepeller(before, n.held)
	pc.view.MarkChanged(id, false) // the set of pods may have changed even though the used resources did not
}

// hasLostRepeller reports whether a node has lost a pod with anti-affinity.
func hasLostRepeller(before, after []hold) bool {
	for _, h := range before {
		if len(h.r.repels) == 0 {
			continue
		}
		i := slices.IndexFunc(after, func(now hold) bool { return now.r == h.r })
		if i < 0 || after[i].here < h.here {
			return true
		}
	}
	return false
}

// updateDomains updates the domains of a node after its labels changed.
func (pc *PodCounts) updateDomains(id model.NodeID) {
	for _, t := range pc.spreads {
		t.countEligible(id, -1)
	}
	info := pc.liveNodeInfo(id)
	for _, top := range pc.keys {
		top.updateNode(id, info)
	}
	for _, e := range pc.sets {
		e.updateNode(id, info)
	}
	for _, t := range pc.spreads {
		t.countEligible(id, 1)
	}
}

// countTask adds pods like the task to a node's counts. by is the total number of pods; gone is the number of leaving
// pods among them.
func (pc *PodCounts) countTask(n *counted, t *model.Task, by, gone int32) {
	for _, m := range pc.matchersOf(t) {
		n.addMatch(m, by, gone)
	}
	if r := pc.rules[t.Shape]; r != nil && len(r.repels)+len(r.pulls) > 0 {
		n.addHeld(r, by, gone)
	}
}

func (n *counted) addMatch(m *matcher, by, gone int32) {
	for i := range n.matched {
		if n.matched[i].m == m {
			n.matched[i].here += by
			n.matched[i].gone += gone
			return
		}
	}
	n.matched = append(n.matched, match{m, by, gone})
}

func (n *counted) addHeld(r *rules, by, gone int32) {
	for i := range n.held {
		if n.held[i].r == r {
			n.held[i].here += by
			n.held[i].gone += gone
			return
		}
	}
	n.held = append(n.held, hold{r, by, gone})
}

// addToTallies adds a node's counts to the tallies if sign is 1, and subtracts them if it is -1.
func (pc *PodCounts) addToTallies(n *counted, id model.NodeID, sign int32) {
	for _, e := range n.matched {
		for _, t := range e.m.counts {
			t.addPods(id, sign*e.here, sign*e.gone)
		}
	}
	for _, h := range n.held {
		h.r.addToTallies(id, sign*h.here, sign*h.gone)
	}
}

// addToTallies adds pods of the shape on a node to the tallies of the shape's own terms.
func (r *rules) addToTallies(id model.NodeID, by, gone int32) {
	for _, t := range r.repels {
		t.addPods(id, by, gone)
	}
	for _, w := range r.pulls {
		w.tally.addWeight(id, by, w.weight)
	}
}

// countNewMatchers counts the pods that match new matchers, on the nodes that were not recounted.
func (pc *PodCounts) countNewMatchers() {
	if len(pc.fresh) == 0 {
		return
	}
	var fresh index
	for _, m := range pc.fresh {
		fresh.addMatcher(m)
	}
	pc.fresh = nil
	for id := range pc.nodes {
		if pc.recounted[id] == pc.opens || !pc.cluster.Nodes.Alive[id] {
			continue
		}
		n := &pc.nodes[id]
		for _, t := range pc.cluster.Nodes.Tasks[id] {
			if t.Status != model.Pipelined {
				pc.found = fresh.appendMatching(pc.cluster, t, pc.found[:0])
				countMatches(pc.found, n, model.NodeID(id), t)
			}
		}
	}
}

// countMatches counts a task on a node for all matchers in matching.
func countMatches(matching []*matcher, n *counted, id model.NodeID, t *model.Task) {
	gone := int32(0)
	if t.Status == model.Releasing {
		gone = 1
	}
	for _, m := range matching {
		n.addMatch(m, 1, gone)
		for _, tally := range m.counts {
			tally.addPods(id, 1, gone)
		}
	}
}

// matchersOf returns the matchers that match a task, in the order of their creation.
func (pc *PodCounts) matchersOf(t *model.Task) []*matcher {
	if pc.lastTask == t {
		return pc.lastMatching
	}
	pc.lastTask = t
	pc.lastMatching = pc.index.appendMatching(pc.cluster, t, pc.lastMatching[:0])
	slices.SortFunc(pc.lastMatching, func(x, y *matcher) int { return x.order - y.order })
	return pc.lastMatching
}

// CountPlaced updates the counts within a cycle when a task is placed on a node (sign 1) or the placement is undone
// (-1).
func (pc *PodCounts) CountPlaced(t *model.Task, id model.NodeID, sign int) {
	if pc.hasRules() {
		pc.shiftCounts(t, id, int32(sign), 0)
	}
}

// CountEvicted updates the counts within a cycle when a task starts to count as leaving (sign 1) or no longer counts
// as leaving (-1).
func (pc *PodCounts) CountEvicted(t *model.Task, sign int) {
	if pc.hasRules() && t.Node != model.NoNode {
		pc.shiftCounts(t, t.Node, 0, int32(sign))
	}
}

func (pc *PodCounts) shiftCounts(t *model.Task, id model.NodeID, by, gone int32) {
	n := &pc.nodes[id]
	changed := false
	for _, m := range pc.matchersOf(t) {
		changed = true
		n.addMatch(m, by, gone)
		for _, tally := range m.counts {
			tally.addPods(id, by, gone)
		}
	}
	if r := pc.rules[t.Shape]; r != nil && len(r.repels)+len(r.pulls) > 0 {
		changed = true
		n.addHeld(r, by, gone)
		r.addToTallies(id, by, gone)
	}
	if changed && !n.touched {
		n.touched = true
		pc.touched = append(pc.touched, id)
	}
}
