package interpod

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/fit"
)

// sharedMatcher returns the shared matcher for the given tests. It creates the matcher if needed.
func (pc *PodCounts) sharedMatcher(tests ...test) *matcher {
	parts := make([]string, len(tests))
	for i := range tests {
		parts[i] = tests[i].cacheKey()
		pc.byNamespace = pc.byNamespace || tests[i].nsSelector != nil
	}
	key := strings.Join(parts, "&&")
	if m := pc.matchers[key]; m != nil {
		return m
	}
	m := &matcher{tests: tests, order: len(pc.matchers)}
	pc.matchers[key] = m
	pc.index.addMatcher(m)
	pc.fresh = append(pc.fresh, m)
	return m
}

// sharedTopology returns the shared topology for a label key. It creates the topology with all nodes if needed.
func (pc *PodCounts) sharedTopology(key string) *topology {
	if t := pc.topologies[key]; t != nil {
		return t
	}
	t := &topology{key: key, ids: map[string]int32{}}
	pc.topologies[key] = t
	pc.keys = append(pc.keys, t)
	for id := range pc.nodes {
		t.updateNode(model.NodeID(id), pc.liveNodeInfo(model.NodeID(id)))
	}
	return t
}

// countingTally returns the shared tally that counts a matcher's pods by topology.
func (pc *PodCounts) countingTally(m *matcher, top *topology, among *eligible) *tally {
	for _, t := range m.counts {
		if t.top == top && t.among == among {
			return t
		}
	}
	t := pc.newTally(top, among)
	m.counts = append(m.counts, t)
	for id := range pc.nodes { // a new matcher has no counts to add yet
		for _, e := range pc.nodes[id].matched {
			if e.m == m {
				t.addPods(model.NodeID(id), e.here, e.gone)
			}
		}
	}
	return t
}

// heldTermTally returns the tally for a topology from one of a matcher's lists of tallies, which count the pods that
// hold a term.
func (pc *PodCounts) heldTermTally(list *[]*tally, top *topology) *tally {
	for _, t := range *list {
		if t.top == top {
			return t
		}
	}
	t := pc.newTally(top, nil)
	*list = append(*list, t)
	return t
}

func (pc *PodCounts) newTally(top *topology, among *eligible) *tally {
	t := &tally{top: top, among: among}
	t.growDomains(top.domainCount())
	top.tallies = append(top.tallies, t)
	if among == nil {
		return t
	}
	pc.spreads = append(pc.spreads, t)
	for id := range pc.nodes {
		t.countEligible(model.NodeID(id), 1)
	}
	return t
}

// sharedEligible returns the shared set of nodes that have the given keys and, if required, are permitted by the
// shape's affinity and tolerations.
func (pc *PodCounts) sharedEligible(shape *model.Shape, keys []*topology, affinity, taints bool) *eligible {
	affinity = affinity && shape.Required != nil
	key := eligibleKey(shape, keys, affinity, taints)
	if e := pc.eligibles[key]; e != nil {
		return e
	}
	e := &eligible{keys: slices.Clone(keys), shape: shape, affinity: affinity, taints: taints}
	pc.eligibles[key] = e
	pc.sets = append(pc.sets, e)
	for id := range pc.nodes {
		e.updateNode(model.NodeID(id), pc.liveNodeInfo(model.NodeID(id)))
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
