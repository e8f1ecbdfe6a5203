package translate

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/usererror"
)

// SelectableLabels returns the keys of the node labels by which a request can select nodes. These are the labels in the
// profile's node selector, the labels of features and device types, and, if the request names nodes, the host name.
func SelectableLabels(p *profile.Profile, r *request.Request) []string {
	all := map[string]bool{}
	for key := range p.NodeSelector {
		all[key] = true
	}
	for _, labels := range p.Features {
		for key := range labels {
			all[key] = true
		}
	}
	for _, gres := range p.Gres {
		for _, labels := range gres.Types {
			for key := range labels {
				all[key] = true
			}
		}
	}
	if r.HasOption("nodelist") || r.HasOption("nodefile") || r.HasOption("exclude") {
		all[corev1.LabelHostname] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// fewestPods returns the smallest number of pods with which the job fits on the nodes that it may use, assuming that
// these nodes are empty. most is the number of pods if each pod has a single task or GPU. If the nodes are unknown, the
// result is 1. A job that does not fit with any number of pods is rejected, because it would wait forever.
func (b *sizing) fewestPods(most int64) int {
	if most <= 1 {
		return 1
	}
	have := b.usableNodes()
	if len(have) == 0 {
		why := "the cluster's nodes are unknown"
		if len(b.Facts.Nodes) > 0 {
			why = "no known node of queue " + b.target.queue + " can run the job"
		}
		b.addNote(why + ", so all tasks run in one pod; use --nodes to specify the number of pods")
		return 1
	}
	if len(b.r.Nodelist) > 0 {
		most = min(most, int64(len(b.r.Nodelist)))
	}
	if limit := b.limits().MaxNodes; limit > 0 {
		most = min(most, limit)
	}
	limit := int(min(most, maxNodes))
	now := slices.DeleteFunc(slices.Clone(have), func(n *Node) bool { return n.Away })
	n := b.smallestFit(now, limit)
	if n == 0 {
		n = b.smallestFit(have, limit)
	}
	if n == 0 {
		b.addError(usererror.Errorf(fmt.Sprintf("the nodes of queue %s do not have enough resources for the job with any number of pods up to %d; if nodes will be added to the cluster, use --nodes to specify the number of pods", b.target.queue, limit),
			"Batch job submission failed: Requested node configuration is not available"))
		return 1
	}
	if n > 1 && b.r.Verbose > 0 {
		b.addNote(fmt.Sprintf("no single node of queue %s has enough resources for the job, so it uses %d nodes", b.target.queue, n))
	}
	return n
}

// smallestFit returns the smallest number of pods, up to limit, with which the job fits, or 0 if none exists. As the
// number of pods grows, their size takes only a few different values. Therefore, smallestFit reuses the result of
// countFittingPods for equal sizes.
func (b *sizing) smallestFit(have []*Node, limit int) int {
	var counted corev1.ResourceList
	places := int64(0)
	for n := 1; n <= limit; n++ {
		s, uneven := b.sizeOnNodes(n)
		if uneven != nil {
			continue
		}
		asked := b.podResources(&s)
		if counted == nil || !maps.EqualFunc(counted, asked, sameAmount) {
			counted, places = asked, b.countFittingPods(asked, have, int64(limit))
		}
		if places >= int64(n) {
			return n
		}
	}
	return 0
}

// countFittingPods returns the number of pods with the given resources that fit on empty nodes. It stops counting at
// enough. It ignores resources that no node has, because nodes with these resources may be added later.
func (b *sizing) countFittingPods(asked corev1.ResourceList, have []*Node, enough int64) int64 {
	needs := map[corev1.ResourceName]int64{}
	for name, amount := range asked {
		if b.isOnAnyNode(name) {
			needs[name] = wholeUnits(name, amount)
		}
	}
	places := int64(0)
	for _, node := range have {
		each := enough
		if b.r.Exclusive == wholeNode {
			each = 1
		}
		for name, need := range needs {
			if need > 0 {
				each = min(each, wholeUnits(name, node.Allocatable[name])/need)
			}
		}
		if places += each * node.Count; places >= enough {
			return enough
		}
	}
	return places
}

// isOnAnyNode reports whether any node has a resource.
func (b *sizing) isOnAnyNode(name corev1.ResourceName) bool {
	return slices.ContainsFunc(b.Facts.Nodes, func(n Node) bool {
		amount, has := n.Allocatable[name]
		return has && amount.Sign() > 0
	})
}

// usableNodes returns the nodes that the job may use.
func (b *sizing) usableNodes() []*Node {
	admits := func(string) bool { return true }
	for _, q := range b.Facts.Queues {
		if q.Name == b.target.queue && q.Admits != nil {
			admits = q.Admits
		}
	}
	one, _ := b.sizeOnNodes(1) // the device types are the same for all sizes
	var all []*Node
	for i := range b.Facts.Nodes {
		if n := &b.Facts.Nodes[i]; n.Count > 0 && admits(n.Group) && b.matchesNode(n, one.gres) {
			all = append(all, n)
		}
	}
	return all
}

// matchesNode reports whether a node satisfies the request's node names, features and device types. It does not report
// unknown features and types, because they are rejected elsewhere.
func (b *sizing) matchesNode(n *Node, gres []optionvalue.Gres) bool {
	if !profile.MatchesLabels(n.Labels, b.p.NodeSelector) {
		return false
	}
	name := n.Labels[corev1.LabelHostname]
	if list := b.r.Nodelist; (len(list) > 0 && !slices.Contains(list, name)) || slices.Contains(b.r.Exclude, name) {
		return false
	}
	for _, g := range gres {
		if known, _ := b.p.FindGres(g.Name); g.Type != "" && !profile.MatchesLabels(n.Labels, known.Types[g.Type]) {
			return false
		}
	}
	hasAll := func(features []string) bool {
		return !slices.ContainsFunc(features, func(feature string) bool { return !profile.MatchesLabels(n.Labels, b.p.Features[feature]) })
	}
	return len(b.r.Constraint) == 0 || slices.ContainsFunc(b.r.Constraint, hasAll)
}
