package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// hint suggests what the user can do about a verdict.
func hint(v *Verdict) string {
	h := reason.Get(v.Code).Hint
	if v.Code == reason.QueueClosed {
		h = strings.ReplaceAll(h, "QUEUE", v.Limit.Queue)
	}
	if v.Detail != "" {
		return v.Detail
	}
	if v.Extra && v.Code == reason.GangDoesNotFit {
		h = reason.Get(reason.ExtraPodsWait).Hint
	}
	switch {
	case v.Code != reason.TooLarge && v.Never():
		return atMost(v)
	case v.Code == reason.NotEnoughPods && v.Members.Failed > 0:
		return "delete the failed pods and create them again, because a failed pod does not count; or lower minAvailable (minMember of a PodGroup)"
	case v.Code == reason.OverCapability && v.Limit.Ending > 0:
		return "wait until the deleted pods have terminated, or raise the capability"
	case v.Code == reason.OverDeserved && v.Limit.Held > 0:
		return "wait until jobs of this queue end or other queues request less, raise its weight, or request less"
	case v.Code == reason.OverDeserved:
		return "wait until other queues request less, raise this queue's weight, or request less"
	case v.Code == reason.TooLarge && v.Limit != nil && v.Limit.Node:
		return smaller(v)
	case alone(v):
		h = "lower the requests, or add nodes"
	}
	if v.Code == reason.GangDoesNotFit && v.Limit == nil && v.HyperNode != "" {
		return "wait, allow the gang a higher tier (highestTierAllowed), or request less"
	}
	if len(v.Tally.Counts) == 0 || v.Limit != nil {
		return h
	}
	switch code := v.Tally.mainReason(); code {
	case reason.InsufficientResource, reason.TooManyPods: // waiting can help
		return h
	case reason.NodeUnschedulable:
		if v.Tally.Cordoned == "" {
			return "list the cordoned nodes with vcctl node list, and uncordon them with vcctl node uncordon"
		}
		return strings.ReplaceAll(reason.Get(code).Hint, "NODE", v.Tally.Cordoned)
	default:
		return reason.Get(code).Hint
	}
}

// mainReason returns the most frequent reason among the nodes that the pods select and tolerate. If there are no such
// nodes, it returns the most frequent reason of all nodes.
func (t *Tally) mainReason() reason.Code {
	for _, c := range t.Counts {
		switch {
		case c.Reason == reason.NodeUnschedulable && t.Cordoned == "":
		case slices.Contains(excludedNodes, c.Reason):
		default:
			return c.Reason
		}
	}
	return t.Counts[0].Reason
}

// excludedNodes lists the reasons of nodes that the pods do not select or tolerate, and of nodes that are not ready.
var excludedNodes = []reason.Code{
	reason.NodeSelectorMismatch, reason.NodeAffinityMismatch, reason.NodeGroupMismatch, reason.UntoleratedTaint, reason.NodeNotReady,
}

// smaller suggests the largest requests with which each pod fits the largest node, and the whole gang fits its queue.
func smaller(v *Verdict) string {
	text := askFor(v.nodeLimits()) + " per pod, or add a larger node"
	if limits := v.otherLimits(); len(limits) > 0 {
		text += fmt.Sprintf("; also %s in total, or raise the capability of queue %s", askFor(limits), limits[0].Queue)
	}
	return text
}

// askFor suggests the largest requests that limits permit.
func askFor(limits []Limit) string {
	var most, none []string
	for _, l := range limits {
		if l.Limit > 0 {
			most = append(most, l.Resource+" "+free(l.Resource, l.Limit))
		} else {
			none = append(none, l.Resource)
		}
	}
	switch {
	case len(none) == 0:
		return "request at most " + strings.Join(most, ", ")
	case len(most) == 0:
		return "request no " + strings.Join(none, ", ")
	}
	return "request at most " + strings.Join(most, ", ") + " and no " + strings.Join(none, ", ")
}

// atMost suggests what to do about a gang that requests more than the limits as a whole.
func atMost(v *Verdict) string {
	l := v.Limit
	or := "or add nodes"
	if l.Kept > 0 {
		or = "add nodes, or lower the guarantees of other queues"
	}
	switch v.Code {
	case reason.OverCapability:
		or = fmt.Sprintf("raise the capability of queue %s, or submit to another queue", l.Queue)
	case reason.OverQuota:
		or = "or raise the ResourceQuota"
	case reason.Overcommitted:
		or = "add nodes, or raise overcommit-factor"
	}
	limits := v.limits()
	switch {
	case l.Limit <= 0 && l.Kept > 0:
		return or
	case l.Limit <= 0 && len(limits) == 1:
		return fmt.Sprintf("%s, %s", askFor(limits), or)
	case v.Code == reason.Overcommitted:
		return fmt.Sprintf("request less (the overcommit limit of the cluster is %s), %s", amounts(limits), or)
	case l.Cluster && l.Kept > 0:
		return fmt.Sprintf("request less (queue %s can get %s in total), %s", l.Queue, amounts(limits), or)
	case l.Cluster:
		return fmt.Sprintf("request less (the cluster has %s in total), %s", amounts(limits), or)
	}
	return fmt.Sprintf("%s in total, %s", askFor(limits), or)
}

// amounts lists limits by resource.
func amounts(limits []Limit) string {
	var parts []string
	for _, l := range limits {
		parts = append(parts, l.Resource+" "+free(l.Resource, l.Limit))
	}
	return strings.Join(parts, ", ")
}
