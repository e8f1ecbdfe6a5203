// Package interpod evaluates scheduling rules that depend on other pods: topology spread, affinity and anti-affinity,
// including the rules of pods that are already running.
//
//	In:   model.Cluster, the overlay, the placements and rollbacks of the cycle
//	Out:  for a task, nil if other pods do not affect it, else a Profile that finds its best node and reports for
//	      every node whether the task may run there and why not
//
// Filters and scores match kube-scheduler's plugins InterPodAffinity and PodTopologySpread (1.37), as the tests in
// test/kubeparity verify. Only the cost differs. The pods that match a term are counted by topology value (called a
// domain), the counts are updated incrementally, and equal terms are counted once. Nodes that are equivalent under a
// shape's rules are ranked as one group, so placing a pod changes the evaluation of one group instead of every node
// in it.
//
// # Invariants
//
//   - The counts are sums over the tasks on live nodes, including the changes of the current cycle. After Open, they
//     match the model.
//   - A Profile reaches the same decisions whether it evaluates groups or single nodes.
//
// # Concurrency
//
// Each engine has its own PodCounts.
package interpod
