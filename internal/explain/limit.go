package explain

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// causeOfQuota compares the requests of the gang's missing pods with the free part of a quota in their namespace.
func causeOfQuota(v *Verdict, _ string) string {
	problem, describe := "has insufficient free resources", compareWithFreeQuota
	if v.IsNeverPossible() {
		problem, describe = "is too small", compareWithQuota
	}
	var parts []string
	for _, l := range v.limitAndMore() {
		parts = append(parts, describe(&l))
	}
	return fmt.Sprintf("the namespace's quota %s %s: %s", v.Limit.Quota, problem, strings.Join(parts, "; "))
}

// compareWithQuota compares a request with the whole limit of a quota.
func compareWithQuota(l *Limit) string {
	return fmt.Sprintf("%s requested %s, limit %s", l.Resource, formatRoundedUp(l.Resource, l.Asked), formatRoundedDown(l.Resource, l.Limit))
}

// compareWithFreeQuota compares a request with the free part of a quota.
func compareWithFreeQuota(l *Limit) string {
	left := max(l.Limit-l.Held-l.Promised, 0)
	text := fmt.Sprintf("%s requested %s, %s of %s free", l.Resource, formatRoundedUp(l.Resource, l.Asked), formatRoundedDown(l.Resource, left), formatRoundedDown(l.Resource, l.Limit))
	if l.Promised > 0 {
		text += fmt.Sprintf(" (%s in use, %s reserved for jobs admitted earlier)", formatRoundedUp(l.Resource, l.Held), formatRoundedUp(l.Resource, l.Promised))
	}
	return text
}

func describeGap(l *Limit) string {
	s := fmt.Sprintf("%s, limit %s", describeUsed(l), formatRoundedDown(l.Resource, l.Limit))
	if l.Kept > 0 {
		s += fmt.Sprintf(" (%s is reserved for the guarantees of other queues)", formatRoundedUp(l.Resource, l.Kept))
	}
	return s
}

// describeBeyond describes the limits that are lower than the requests, regardless of current usage.
func describeBeyond(limits []Limit) string {
	var parts []string
	for _, l := range limits {
		text := fmt.Sprintf("%s requested %s, limit %s", l.Resource, formatRoundedUp(l.Resource, l.Asked), formatRoundedDown(l.Resource, l.Limit))
		if l.Kept > 0 {
			text += fmt.Sprintf(" (%s is reserved for the guarantees of other queues)", formatRoundedUp(l.Resource, l.Kept))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// describeUsed describes the request and the current usage.
func describeUsed(l *Limit) string {
	s := fmt.Sprintf("%s requested %s, %s in use", l.Resource, formatRoundedUp(l.Resource, l.Asked), formatRoundedUp(l.Resource, l.Held))
	if l.Ending > 0 {
		s += fmt.Sprintf(" (%s by deleted pods that have not terminated yet)", formatRoundedUp(l.Resource, l.Ending))
	}
	if l.Spare > 0 {
		s += fmt.Sprintf(" (%s beyond minimums)", formatRoundedUp(l.Resource, l.Spare))
	}
	if l.Promised > 0 {
		s += fmt.Sprintf(", %s reserved for %s", formatRoundedUp(l.Resource, l.Promised), listPromisees(l))
	}
	return s
}

// listPromisees lists gangs for which resources are reserved.
func listPromisees(l *Limit) string {
	if len(l.Promisees) == 0 {
		return "gangs admitted earlier"
	}
	names := strings.Join(l.Promisees, ", ")
	if l.MorePromisees > 0 {
		names = fmt.Sprintf("%s and %d more", names, l.MorePromisees)
	}
	return names + ", admitted earlier"
}

// describeShare describes the queue's share and how it is computed.
func describeShare(l *Limit) string {
	s := fmt.Sprintf("%s, its share is %s", describeUsed(l), formatRoundedDown(l.Resource, l.Limit))
	if l.Total <= 0 {
		return s
	}
	s += " of " + formatRoundedUp(l.Resource, l.Total)
	var weight, weights int32
	var others []string
	for _, o := range l.Sharers {
		weights += o.Weight
		if o.Queue == l.Queue {
			weight = o.Weight
			continue
		}
		switch len(others) {
		case maxSharers:
			others = append(others, "…")
		case maxSharers + 1:
		default:
			others = append(others, fmt.Sprintf("%s (%s)", o.Queue, formatRoundedUp(l.Resource, o.Share)))
		}
	}
	if weight == 0 || len(others) == 0 {
		return s
	}
	return fmt.Sprintf("%s, based on weight %d of a total weight of %d; other queues that request a share: %s", s, weight, weights, strings.Join(others, ", "))
}

// compareLargest compares a pod with the largest node, and describes for which other reasons the pod may not use
// nodes.
func compareLargest(v *Verdict) string {
	each, use := "", ""
	if v.Task == nil && !v.OfTask && v.Members.Min > 1 {
		each = " per pod on average"
	}
	ruledOut := ""
	for _, c := range v.Tally.Counts {
		if !reason.Get(c.Reason).Has(reason.AboutCapacity) {
			use, ruledOut = " that the pod can use", "; "+describeTally(v)
		}
	}
	var parts []string
	for _, l := range v.nodeLimits() {
		has := "has " + formatRoundedDown(l.Resource, l.Limit)
		if l.Limit <= 0 {
			has = "has none"
		}
		parts = append(parts, fmt.Sprintf("%s requested %s%s, the largest node%s %s", l.Resource, formatRoundedUp(l.Resource, l.Asked), each, use, has))
	}
	if limits := v.otherLimits(); len(limits) > 0 {
		parts = append(parts, fmt.Sprintf("the request exceeds the capability of queue %s: %s", limits[0].Queue, describeBeyond(limits)))
	}
	return strings.Join(parts, "; ") + ruledOut
}
