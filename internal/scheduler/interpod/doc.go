// Package interpod evaluates the rules that depend on other pods: topology spread, affinity and anti-affinity,
// including the rules of pods that already run.
//
//	In:   model.Cluster, the overlay, what the cycle places and rolls back
//	Out:  for a task, nil if no other pod matters to it, else a Profile that finds its best node and reports
//	      for every node whether the task may run there and why not
//
// Filters and scores match kube-scheduler's plugins InterPodAffinity and PodTopologySpread (1.36). The tests in
// test/kubeparity verify this. The difference is the cost: a term's matching pods are counted by topology value (a
// domain), the counts are updated incrementally, and equal terms are counted once. Nodes that are equivalent under
// a shape's rules are ranked as one group, so a placed pod changes the evaluation of a group rather than of each of
// its nodes.
//
// # Invariants
//
//   - Counts are sums over the live nodes' tasks, in the model plus the changes of the current cycle. After Open
//     they equal the model.
//   - A Profile decides the same by groups and node by node.
//
// # Concurrency
//
// A Book belongs to one engine.
package interpod
