package explain

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// hint suggests what the user can do about a verdict.
func hint(v *Verdict) string {
	h := reason.Get(v.Code).Hint
	if v.Detail != "" {
		return v.Detail
	}
	if v.Extra && v.Code == reason.GangDoesNotFit {
		h = reason.Get(reason.ExtraPodsWait).Hint
	}
	switch {
	case v.Code != reason.TooLarge && v.Never():
		return atMost(v)
	case v.Code == reason.OverCapability && v.Limit.Ending > 0:
		return "wait until the deleted pods have ended, or raise the capability"
	case v.Code == reason.OverDeserved && v.Limit.Held > 0:
		return "wait until jobs of this queue end or other queues ask for less, raise its weight, or ask for less"
	case v.Code == reason.OverDeserved:
		return "wait until other queues ask for less, raise this queue's weight, or ask for less"
	case v.Code == reason.TooLarge && v.Limit != nil && v.Limit.Node:
		return smaller(v)
	}
	if v.Code == reason.GangDoesNotFit && v.Limit == nil && v.HyperNode != "" {
		return "wait, let the gang use a higher tier (highestTierAllowed), or ask for less"
	}
	if len(v.Tally.Counts) > 0 && v.Limit == nil {
		switch first := v.Tally.Counts[0]; first.Reason {
		case reason.InsufficientResource, reason.TooManyPods:
		default: // most nodes are excluded for a reason that does not change by waiting
			return reason.Get(first.Reason).Hint
		}
	}
	return h
}

// smaller suggests the largest request with which a pod fits the largest node.
func smaller(v *Verdict) string {
	var most, none []string
	for _, l := range v.limits() {
		if l.Limit > 0 {
			most = append(most, l.Resource+" "+amount(l.Resource, l.Limit))
		} else {
			none = append(none, l.Resource)
		}
	}
	text := "ask for"
	if len(most) > 0 {
		text += " at most " + strings.Join(most, ", ")
	}
	if len(none) > 0 {
		if len(most) > 0 {
			text += " and"
		}
		text += " no " + strings.Join(none, ", ")
	}
	return text + " per pod, or add a larger node"
}

// atMost suggests what to do about a gang that requests more than the limit as a whole.
func atMost(v *Verdict) string {
	l := v.Limit
	or := "or add nodes"
	if l.Kept > 0 {
		or = "add nodes, or lower what is guaranteed to other queues"
	}
	switch v.Code {
	case reason.OverCapability:
		or = fmt.Sprintf("raise the capability of queue %s, or submit to another queue", l.Queue)
	case reason.OverQuota:
		or = "or raise the ResourceQuota"
	case reason.Overcommitted:
		or = "add nodes, or raise overcommit-factor"
	}
	if l.Limit <= 0 && l.Kept > 0 {
		return or
	}
	if l.Limit <= 0 {
		return fmt.Sprintf("ask for no %s, %s", l.Resource, or)
	}
	if l.Cluster {
		return fmt.Sprintf("ask for less (the cluster has %s %s in all), %s", l.Resource, amount(l.Resource, l.Limit), or)
	}
	return fmt.Sprintf("ask for at most %s %s in all, %s", l.Resource, amount(l.Resource, l.Limit), or)
}
