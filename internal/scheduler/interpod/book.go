package interpod

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// Book stores the counts of pods by topology domain. Each engine has one Book.
type Book struct {
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
func (b *Book) Open(c *model.Cluster, view *overlay.Overlay, judge *equivalence.Judge) {
	b.cluster, b.view, b.judge = c, view, judge
	b.Relieved = false
	b.lastTask = nil
	slow := 0
	for _, s := range c.Shapes {
		if s != nil && s.Slow {
			slow++
		}
	}
	if slow == 0 && len(b.rules) == 0 {
		return
	}
	hasManyOldRules := len(b.rules) > 2*slow+64
	hasOldNamespaces := b.byNamespace && b.namespaces != c.NamespaceGen
	isUnset := slow == 0 || b.rules == nil
	if isUnset || hasManyOldRules || hasOldNamespaces {
		relieved := len(b.rules) > 0
		b.reset()
		b.Relieved = relieved
	}
	b.namespaces = c.NamespaceGen
	if slow == 0 {
		return
	}
	b.opens++
	b.growRows(c.Nodes.Len())
	for _, s := range c.Shapes {
		if s != nil && s.Slow && b.rules[s] == nil {
			b.rules[s] = b.compileRules(s)
		}
	}
	b.recountChanged()
	b.countNewMatchers()
	b.seen = c.Gen()
}

// hasRules reports whether any shape has rules about other pods.
func (b *Book) hasRules() bool { return b != nil && len(b.rules) > 0 }

func (b *Book) reset() {
	relieved := b.Relieved
	*b = Book{
		Relieved: relieved, cluster: b.cluster, view: b.view, judge: b.judge,
		rules: map[*model.Shape]*rules{}, matchers: map[string]*matcher{}, topologies: map[string]*topology{},
		eligibles: map[string]*eligible{}, profiles: map[*model.Shape][]*Profile{}, groupings: map[string]*grouping{},
	}
}

func (b *Book) growRows(n int) {
	for len(b.nodes) < n {
		b.nodes = append(b.nodes, counted{})
		b.recounted = append(b.recounted, 0)
	}
	for _, top := range b.keys {
		for len(top.domain) < n {
			top.domain = append(top.domain, none)
		}
	}
	for _, e := range b.sets {
		for len(e.nodes) < n {
			e.nodes = append(e.nodes, false)
		}
	}
}

// liveNodeInfo returns the labels and taints of a live node. It returns nil if the node is not alive.
func (b *Book) liveNodeInfo(id model.NodeID) *model.NodeInfo {
	if !b.cluster.Nodes.Alive[id] {
		return nil
	}
	return b.cluster.Nodes.Info[id]
}

// recountChanged recounts the pods on the nodes that changed.
func (b *Book) recountChanged() {
	for _, id := range b.touched {
		b.nodes[id].touched = false
		b.recountNode(id)
	}
	b.touched = b.touched[:0]
	if b.seen > 0 && b.cluster.NodesSince(b.seen, b.recountNode) {
		return
	}
	for id := range b.nodes {
		b.recountNode(model.NodeID(id))
	}
}

// recountNode replaces a node's contribution to the tallies with its current state in the model.
func (b *Book) recountNode(id model.NodeID) {
	if b.recounted[id] == b.opens {
		return
	}
	b.recounted[id] = b.opens
	n := &b.nodes[id]
	b.addToTallies(n, id, -1)
	if b.seen == 0 || b.cluster.Nodes.Labeled[id] > b.seen {
		b.updateDomains(id)
	}
	before := append(b.before[:0], n.held...)
	n.matched, n.held = n.matched[:0], n.held[:0]
	if b.cluster.Nodes.Alive[id] {
		for _, t := range b.cluster.Nodes.Tasks[id] {
			if t.Status == model.Pipelined {
				continue
			}
			gone := int32(0)
			if t.Status == model.Releasing {
				gone = 1
			}
			b.countTask(n, t, 1, gone)
		}
	}
	b.addToTallies(n, id, 1)
	b.before = before
	b.Relieved = b.Relieved || hasLostRepeller(before, n.held)
	b.view.MarkChanged(id, false) // the set of pods may have changed even though the used resources did not
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
func (b *Book) updateDomains(id model.NodeID) {
	for _, t := range b.spreads {
		t.countEligible(id, -1)
	}
	info := b.liveNodeInfo(id)
	for _, top := range b.keys {
		top.updateNode(id, info)
	}
	for _, e := range b.sets {
		e.updateNode(id, info)
	}
	for _, t := range b.spreads {
		t.countEligible(id, 1)
	}
}

// countTask adds pods like the task to a node's counts. by is the total number of pods; gone is the number of leaving
// pods among them.
func (b *Book) countTask(n *counted, t *model.Task, by, gone int32) {
	for _, m := range b.matchersOf(t) {
		n.addMatch(m, by, gone)
	}
	if r := b.rules[t.Shape]; r != nil && len(r.repels)+len(r.pulls) > 0 {
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
func (b *Book) addToTallies(n *counted, id model.NodeID, sign int32) {
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
func (b *Book) countNewMatchers() {
	if len(b.fresh) == 0 {
		return
	}
	var fresh index
	for _, m := range b.fresh {
		fresh.addMatcher(m)
	}
	b.fresh = nil
	for id := range b.nodes {
		if b.recounted[id] == b.opens || !b.cluster.Nodes.Alive[id] {
			continue
		}
		n := &b.nodes[id]
		for _, t := range b.cluster.Nodes.Tasks[id] {
			if t.Status != model.Pipelined {
				b.found = fresh.appendMatching(b.cluster, t, b.found[:0])
				countMatches(b.found, n, model.NodeID(id), t)
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
func (b *Book) matchersOf(t *model.Task) []*matcher {
	if b.lastTask == t {
		return b.lastMatching
	}
	b.lastTask = t
	b.lastMatching = b.index.appendMatching(b.cluster, t, b.lastMatching[:0])
	slices.SortFunc(b.lastMatching, func(x, y *matcher) int { return x.order - y.order })
	return b.lastMatching
}

// CountPlaced updates the counts within a cycle when a task is placed on a node (sign 1) or the placement is undone
// (-1).
func (b *Book) CountPlaced(t *model.Task, id model.NodeID, sign int) {
	if b.hasRules() {
		b.shiftCounts(t, id, int32(sign), 0)
	}
}

// CountEvicted updates the counts within a cycle when a task starts to count as leaving (sign 1) or no longer counts
// as leaving (-1).
func (b *Book) CountEvicted(t *model.Task, sign int) {
	if b.hasRules() && t.Node != model.NoNode {
		b.shiftCounts(t, t.Node, 0, int32(sign))
	}
}

func (b *Book) shiftCounts(t *model.Task, id model.NodeID, by, gone int32) {
	n := &b.nodes[id]
	changed := false
	for _, m := range b.matchersOf(t) {
		changed = true
		n.addMatch(m, by, gone)
		for _, tally := range m.counts {
			tally.addPods(id, by, gone)
		}
	}
	if r := b.rules[t.Shape]; r != nil && len(r.repels)+len(r.pulls) > 0 {
		changed = true
		n.addHeld(r, by, gone)
		r.addToTallies(id, by, gone)
	}
	if changed && !n.touched {
		n.touched = true
		b.touched = append(b.touched, id)
	}
}
