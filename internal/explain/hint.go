package explain

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// describeHint describes what the user can do about a verdict.
func describeHint(v *Verdict) string {
	if v.Detail != "" {
		return v.Detail
	}
	row := reason.Get(v.Code)
	if row.Never != reason.BySize && v.IsNeverPossible() {
		if suggest := wordings[v.Code].never; suggest != nil {
			return suggest(v)
		}
		return suggestWithinLimits(v, suggestMoreNodes(v.Limit))
	}
	if suggest := wordings[v.Code].hint; suggest != nil {
		return suggest(v, row.Hint)
	}
	return hintForNodes(v, row.Hint)
}

// hintForNodes returns the hint for the reason that applies to most nodes. If the nodes are not the reason, or waiting
// can help, it returns hint.
func hintForNodes(v *Verdict, hint string) string {
	if len(v.Tally.Counts) == 0 || v.Limit != nil {
		return hint
	}
	row := reason.Get(v.Tally.mainReason())
	switch {
	case row.Has(reason.WaitingHelps):
		return hint
	case row.Code == reason.NodeUnschedulable && v.Tally.Cordoned == "":
		return "list the cordoned nodes with vcctl node list, and uncordon them with vcctl node uncordon"
	case row.Code == reason.NodeUnschedulable:
		return strings.ReplaceAll(row.Hint, "NODE", v.Tally.Cordoned)
	}
	return row.Hint
}

// mainReason returns the most frequent reason among the nodes that the pods select and tolerate. If there are no such
// nodes, it returns the most frequent reason among all nodes.
func (t *Tally) mainReason() reason.Code {
	for _, c := range t.Counts {
		switch {
		case c.Reason == reason.NodeUnschedulable && t.Cordoned == "":
		case reason.Get(c.Reason).Has(reason.RulesOutNode):
		default:
			return c.Reason
		}
	}
	return t.Counts[0].Reason
}

// suggestSmaller suggests the largest requests with which each pod fits on the largest node and the whole gang fits in
// its queue.
func suggestSmaller(v *Verdict) string {
	text := suggestRequests(v.nodeLimits()) + " per pod, or add a larger node"
	if limits := v.otherLimits(); len(limits) > 0 {
		text += fmt.Sprintf("; also %s in total, or raise the capability of queue %s", suggestRequests(limits), limits[0].Queue)
	}
	return text
}

// suggestRequests suggests the largest requests that the limits permit.
func suggestRequests(limits []Limit) string {
	var most, none []string
	for _, l := range limits {
		if l.Limit > 0 {
			most = append(most, l.Resource+" "+formatRoundedDown(l.Resource, l.Limit))
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

// suggestWithinLimits suggests what to do if a gang's total request exceeds the limits: to request less, or the
// specified remedy.
func suggestWithinLimits(v *Verdict, remedy string) string {
	l, limits := v.Limit, v.limitAndMore()
	switch {
	case l.Limit <= 0 && l.Kept > 0:
		return remedy
	case l.Limit <= 0 && len(limits) == 1:
		return fmt.Sprintf("%s, %s", suggestRequests(limits), remedy)
	case l.Cluster && l.Kept > 0:
		return fmt.Sprintf("request less (queue %s can get %s in total), %s", l.Queue, listAmounts(limits), remedy)
	case l.Cluster:
		return fmt.Sprintf("request less (the cluster has %s in total), %s", listAmounts(limits), remedy)
	}
	return fmt.Sprintf("%s in total, %s", suggestRequests(limits), remedy)
}

// suggestMoreNodes suggests how the cluster can get more resources for the queue of a limit.
func suggestMoreNodes(l *Limit) string {
	if l.Kept > 0 {
		return "add nodes, or lower the guarantees of other queues"
	}
	return "or add nodes"
}

// listAmounts lists the limits by resource.
func listAmounts(limits []Limit) string {
	var parts []string
	for _, l := range limits {
		parts = append(parts, l.Resource+" "+formatRoundedDown(l.Resource, l.Limit))
	}
	return strings.Join(parts, ", ")
}
