package explain

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// overQuota compares the requests of the gang's missing pods with the free part of a quota in their namespace.
func overQuota(v *Verdict, _ string) string {
	problem, describe := "has too little free", leftOfQuota
	if v.Never() {
		problem, describe = "is too small", wholeQuota
	}
	var parts []string
	for _, l := range v.limits() {
		parts = append(parts, describe(&l))
	}
	return fmt.Sprintf("the namespace's quota %s %s: %s", v.Limit.Quota, problem, strings.Join(parts, "; "))
}

// wholeQuota compares a request with the whole limit of a quota.
func wholeQuota(l *Limit) string {
	return fmt.Sprintf("%s requested %s, limit %s", l.Resource, amount(l.Resource, l.Asked), free(l.Resource, l.Limit))
}

// leftOfQuota compares a request with the free part of a quota.
func leftOfQuota(l *Limit) string {
	left := max(l.Limit-l.Held-l.Promised, 0)
	text := fmt.Sprintf("%s requested %s, %s of %s free", l.Resource, amount(l.Resource, l.Asked), free(l.Resource, left), free(l.Resource, l.Limit))
	if l.Promised > 0 {
		text += fmt.Sprintf(" (%s in use, %s reserved for jobs admitted earlier)", amount(l.Resource, l.Held), amount(l.Resource, l.Promised))
	}
	return text
}

func gap(l *Limit) string {
	s := fmt.Sprintf("%s, limit %s", used(l), free(l.Resource, l.Limit))
	if l.Kept > 0 {
		s += fmt.Sprintf(" (%s is reserved for the guarantees of other queues)", amount(l.Resource, l.Kept))
	}
	return s
}

// beyond describes the limits that are lower than the requests, regardless of the current usage.
func beyond(limits []Limit) string {
	var parts []string
	for _, l := range limits {
		text := fmt.Sprintf("%s requested %s, limit %s", l.Resource, amount(l.Resource, l.Asked), free(l.Resource, l.Limit))
		if l.Kept > 0 {
			text += fmt.Sprintf(" (%s is reserved for the guarantees of other queues)", amount(l.Resource, l.Kept))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// used describes the request and the current usage.
func used(l *Limit) string {
	s := fmt.Sprintf("%s requested %s, %s in use", l.Resource, amount(l.Resource, l.Asked), amount(l.Resource, l.Held))
	if l.Ending > 0 {
		s += fmt.Sprintf(" (%s by deleted pods that have not terminated)", amount(l.Resource, l.Ending))
	}
	if l.Spare > 0 {
		s += fmt.Sprintf(" (%s beyond minimums)", amount(l.Resource, l.Spare))
	}
	if l.Promised > 0 {
		s += fmt.Sprintf(", %s reserved for %s", amount(l.Resource, l.Promised), promisees(l))
	}
	return s
}

// promisees lists gangs for which resources are reserved.
func promisees(l *Limit) string {
	if len(l.Promisees) == 0 {
		return "gangs admitted earlier"
	}
	names := strings.Join(l.Promisees, ", ")
	if l.MorePromisees > 0 {
		names = fmt.Sprintf("%s and %d more", names, l.MorePromisees)
	}
	return names + ", admitted earlier"
}

// share describes the queue's share and how it is computed.
func share(l *Limit) string {
	s := fmt.Sprintf("%s, its share is %s", used(l), free(l.Resource, l.Limit))
	if l.Total <= 0 {
		return s
	}
	s += " of " + amount(l.Resource, l.Total)
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
			others = append(others, fmt.Sprintf("%s (%s)", o.Queue, amount(l.Resource, o.Share)))
		}
	}
	if weight == 0 || len(others) == 0 {
		return s
	}
	return fmt.Sprintf("%s by weight %d of %d; other queues that request a share: %s", s, weight, weights, strings.Join(others, ", "))
}

// largest compares a pod with the largest node, and describes which nodes the pod may not use for other reasons.
func largest(v *Verdict) string {
	each, use := "", ""
	if v.Task == nil && !v.OfTask && v.Members.Min > 1 {
		each = " by each pod on average"
	}
	ruledOut := ""
	for _, c := range v.Tally.Counts {
		if !reason.Get(c.Reason).Has(reason.AboutCapacity) {
			use, ruledOut = " that it may use", "; "+tally(v)
		}
	}
	var parts []string
	for _, l := range v.nodeLimits() {
		has := "has " + free(l.Resource, l.Limit)
		if l.Limit <= 0 {
			has = "has none"
		}
		parts = append(parts, fmt.Sprintf("%s requested %s%s, the largest node%s %s", l.Resource, amount(l.Resource, l.Asked), each, use, has))
	}
	if limits := v.otherLimits(); len(limits) > 0 {
		parts = append(parts, fmt.Sprintf("the request exceeds the capability of queue %s: %s", limits[0].Queue, beyond(limits)))
	}
	return strings.Join(parts, "; ") + ruledOut
}
