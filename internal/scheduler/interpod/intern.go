package interpod

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/fit"
)

// sharedMatcher returns the shared matcher for the given tests. It creates the matcher if needed.
func (b *Book) sharedMatcher(tests ...test) *matcher {
	parts := make([]string, len(tests))
	for i := range tests {
		parts[i] = tests[i].cacheKey()
		b.byNamespace = b.byNamespace || tests[i].nsSelector != nil
	}
	key := strings.Join(parts, "&&")
	if m := b.matchers[key]; m != nil {
		return m
	}
	m := &matcher{tests: tests, order: len(b.matchers)}
	b.matchers[key] = m
	b.index.addMatcher(m)
	b.fresh = append(b.fresh, m)
	return m
}

// sharedTopology returns the shared topology for a label key. It creates the topology with all nodes if needed.
func (b *Book) sharedTopology(key string) *topology {
	if t := b.topologies[key]; t != nil {
		return t
	}
	t := &topology{key: key, ids: map[string]int32{}}
	b.topologies[key] = t
	b.keys = append(b.keys, t)
	for id := range b.nodes {
		t.updateNode(model.NodeID(id), b.liveNodeInfo(model.NodeID(id)))
	}
	return t
}

// countingTally returns the shared tally that counts a matcher's pods by topology.
func (b *Book) countingTally(m *matcher, top *topology, among *eligible) *tally {
	for _, t := range m.counts {
		if t.top == top && t.among == among {
			return t
		}
	}
	t := b.newTally(top, among)
	m.counts = append(m.counts, t)
	for id := range b.nodes { // a new matcher has no counts to add yet
		for _, e := range b.nodes[id].matched {
			if e.m == m {
				t.addPods(model.NodeID(id), e.here, e.gone)
			}
		}
	}
	return t
}

// heldTermTally returns the tally for a topology from one of a matcher's lists of tallies, which count the pods that
// hold a term.
func (b *Book) heldTermTally(list *[]*tally, top *topology) *tally {
	for _, t := range *list {
		if t.top == top {
			return t
		}
	}
	t := b.newTally(top, nil)
	*list = append(*list, t)
	return t
}

func (b *Book) newTally(top *topology, among *eligible) *tally {
	t := &tally{top: top, among: among}
	t.growDomains(top.domainCount())
	top.tallies = append(top.tallies, t)
	if among == nil {
		return t
	}
	b.spreads = append(b.spreads, t)
	for id := range b.nodes {
		t.countEligible(model.NodeID(id), 1)
	}
	return t
}

// sharedEligible returns the shared set of nodes that have the given keys and, if required, are permitted by the
// shape's affinity and tolerations.
func (b *Book) sharedEligible(shape *model.Shape, keys []*topology, affinity, taints bool) *eligible {
	affinity = affinity && shape.Required != nil
	key := eligibleKey(shape, keys, affinity, taints)
	if e := b.eligibles[key]; e != nil {
		return e
	}
	e := &eligible{keys: slices.Clone(keys), shape: shape, affinity: affinity, taints: taints}
	b.eligibles[key] = e
	b.sets = append(b.sets, e)
	for id := range b.nodes {
		e.updateNode(model.NodeID(id), b.liveNodeInfo(model.NodeID(id)))
	}
	return e
}

func eligibleKey(shape *model.Shape, keys []*topology, affinity, taints bool) string {
	key := ""
	for _, top := range keys {
		key += top.key + ","
	}
	if affinity && shape.Required != nil {
		key += "|affinity of " + shape.Key
	}
	if taints {
		key += "|tolerations of " + shape.Key
	}
	return key
}

// updateNode adds a node to the set or removes it, as its current labels and taints require.
func (e *eligible) updateNode(id model.NodeID, info *model.NodeInfo) {
	for len(e.nodes) <= int(id) {
		e.nodes = append(e.nodes, false)
	}
	e.nodes[id] = info != nil && e.isEligible(id, info)
}

func (e *eligible) isEligible(id model.NodeID, info *model.NodeInfo) bool {
	for _, top := range e.keys {
		if top.domain[id] == none {
			return false
		}
	}
	if e.affinity {
		if ok, err := e.shape.Required.Match(info.Node); err != nil || !ok {
			return false
		}
	}
	return !e.taints || fit.ToleratesNode(e.shape, info)
}
