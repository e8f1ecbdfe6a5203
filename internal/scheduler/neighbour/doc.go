// Package neighbour judges what depends on other pods: affinity and
// anti-affinity, also that of pods which run already, and topology spread.
//
//	In:   model.Cluster, the overlay, what the cycle places and takes back
//	Out:  for a task: nil when no other pod matters to it, else a Profile that knows its best node,
//	      and of every node whether it may go there and why not
//
// What kube-scheduler's plugins InterPodAffinity and PodTopologySpread (1.36)
// decide is decided here, filters and scores; the test that says so is in
// test/agree. What differs is the cost: a term's matching pods are counted by
// topology value (a domain), the counts follow what changes, and terms that are
// written alike are counted once. Nodes that are alike to a shape's rules are
// ranked as one group, so that a placed pod changes the judgement of a group, not
// of its nodes.
//
// # Invariants
//
//   - Counts are sums over the live nodes' tasks, in the model and in what the cycle did so far; after Open they
//     are those of the model.
//   - A Profile decides the same by groups and node by node.
//
// # Concurrency
//
// A Book belongs to one engine.
package neighbour
