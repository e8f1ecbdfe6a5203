package explain

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
)

// maxReasons is the maximum number of different reasons for rejected nodes in an explanation.
const maxReasons = 8

// maxSharers is the maximum number of queues with a share of a resource that an explanation lists.
const maxSharers = 3

// Standing describes the state of a queue. The amounts are indexed by resource; +Inf means no limit.
type Standing struct {
	Name                                       string
	Allocated, Deserved, Guarantee, Capability []float64
	// Position is the position of the gang among the Waiting gangs in its queue, starting at 1. It is 0 if the
	// position is not shown.
	Position, Waiting int
	// Path lists the ancestors of the queue, starting at the root.
	Path []Standing
}

// ToAPIExplanation converts a verdict to an explanation for the API. It does not set the time since which the gang
// has been waiting. q may be nil.
func ToAPIExplanation(v *Verdict, q *Standing, resources *resource.Names) *schedulingv1beta1.Explanation {
	e := &schedulingv1beta1.Explanation{
		Reason:  string(v.ReasonCode()),
		Message: Sentence(v),
		Hint:    describeHint(v),
		Never:   v.IsNeverPossible(),
		Members: &schedulingv1beta1.ExplainedMembers{
			Min: int32(v.Members.Min), Exist: int32(v.Members.Exist), Running: int32(v.Members.Held), Fit: int32(v.Members.Fit),
		},
		NodeCount: int32(v.Tally.Looked),
		Spared:    sparedToAPI(v.Spared),
		EvictedBy: v.EvictedBy,
	}
	for i, c := range v.Tally.Counts {
		if i == maxReasons {
			break
		}
		n := schedulingv1beta1.ExplainedNodes{Reason: string(c.Reason), Detail: c.Detail, Count: int32(c.Nodes)}
		if c.Short > 0 {
			n.ShortBy = formatRoundedUp(c.Detail, float64(c.Short))
		}
		e.Nodes = append(e.Nodes, n)
	}
	e.Short = nodeShortages(v, resources)
	if l := v.Limit; l != nil && l.Resource != "" && !l.isHeldWithoutLimit() {
		if l.Node { // the capacity that is currently free does not matter
			e.Short = nil
		}
		var short []schedulingv1beta1.Shortage
		for _, l := range v.limitAndMore() {
			short = append(short, limitShortage(&l))
		}
		e.Short = append(short, e.Short...)
	}
	if q != nil {
		e.Queue = queueToAPI(q, resources)
	}
	return e
}

// nodeShortages returns one entry for each resource that the next pod lacks. Nodes can lack the same resource for
// different reasons, for example because they are too small or because others use it. The entry is about the node that
// comes closest.
func nodeShortages(v *Verdict, resources *resource.Names) []schedulingv1beta1.Shortage {
	var names []string
	smallest := map[string]int64{}
	for _, c := range v.Tally.Counts {
		if c.Short <= 0 {
			continue
		}
		known, isKnown := smallest[c.Detail]
		if !isKnown {
			names = append(names, c.Detail)
		}
		if !isKnown || c.Short < known {
			smallest[c.Detail] = c.Short
		}
	}
	var list []schedulingv1beta1.Shortage
	for _, name := range names[:min(maxReasons, len(names))] {
		list = append(list, nodeShortage(v, name, smallest[name], resources))
	}
	return list
}

// nodeShortage returns how much of a resource the next pod lacks on the node that comes closest.
func nodeShortage(v *Verdict, name string, short int64, resources *resource.Names) schedulingv1beta1.Shortage {
	s := schedulingv1beta1.Shortage{Resource: corev1.ResourceName(name), Scope: "nodes", ShortBy: formatRoundedUp(name, float64(short))}
	if i, ok := resources.Find(name); ok && v.Task != nil {
		asked := v.Task.Shape.Request.Get(i)
		s.Asked, s.Available = formatRoundedUp(name, float64(asked)), formatRoundedDown(name, float64(max(asked-short, 0)))
	}
	return s
}

func limitShortage(l *Limit) schedulingv1beta1.Shortage {
	scope, of := "queue", l.Queue
	switch {
	case l.Quota != "":
		scope, of = "quota", l.Quota
	case l.QOS != "":
		scope, of = "qos", l.QOS
	case l.User != "":
		scope, of = "user", l.User
	case l.Account != "":
		scope, of = "account", l.Account
	case l.Cluster:
		scope, of = "cluster", ""
	case l.Node:
		scope, of = "nodes", ""
	}
	left := max(l.Limit-l.Held-l.Promised+l.Spare, 0)
	return schedulingv1beta1.Shortage{
		Resource: corev1.ResourceName(l.Resource), Scope: scope, Of: of,
		Asked: formatUp(l, l.Asked), Available: formatDown(l, left), ShortBy: formatUp(l, max(l.Asked-left, 0)),
	}
}

func queueToAPI(q *Standing, resources *resource.Names) *schedulingv1beta1.ExplainedQueue {
	e := &schedulingv1beta1.ExplainedQueue{
		Name:       q.Name,
		Allocated:  ResourceList(q.Allocated, resources),
		Deserved:   ResourceList(q.Deserved, resources),
		Guarantee:  ResourceList(q.Guarantee, resources),
		Capability: ResourceList(q.Capability, resources),
		Position:   int32(q.Position),
		Waiting:    int32(q.Waiting),
	}
	for _, p := range q.Path {
		e.Path = append(e.Path, schedulingv1beta1.ExplainedLevel{
			Name: p.Name, Allocated: ResourceList(p.Allocated, resources), Deserved: ResourceList(p.Deserved, resources),
			Guarantee: ResourceList(p.Guarantee, resources), Capability: ResourceList(p.Capability, resources),
		})
	}
	return e
}

// ResourceList converts amounts to a resource list of the API. It omits infinite, zero and negative amounts, and the
// number of pods.
func ResourceList(values []float64, resources *resource.Names) corev1.ResourceList {
	var list corev1.ResourceList
	for i, v := range values {
		if v < 0.5 || math.IsInf(v, 1) || i == resource.Pods {
			continue
		}
		if list == nil {
			list = corev1.ResourceList{}
		}
		name := resources.Name(i)
		list[corev1.ResourceName(name)] = resource.Quantity(name, toQuantity(math.Floor(v+0.001)))
	}
	return list
}

// toQuantity converts an amount to the value of an API quantity. It limits the value to resource.MaxSum, because sums
// of limited amounts may exceed that limit.
func toQuantity(v float64) int64 { return int64(min(v, float64(resource.MaxSum))) }

// Sentence describes a verdict in words, with numbers.
func Sentence(v *Verdict) string {
	if v.Extra && v.Code != "" {
		return describeExtra(v)
	}
	return describeCause(v)
}

// describeExtra describes how many pods of the gang are running and why the others are waiting.
func describeExtra(v *Verdict) string {
	m, why := v.Members, describeCause(v)
	if v.Code == reason.GangDoesNotFit && v.Limit == nil {
		why = describeScope(v) + describeTally(v)
	}
	enough := fmt.Sprintf("%d are enough", m.Min)
	if m.Min == 1 {
		enough = "1 is enough"
	}
	rest := fmt.Sprintf("the other %d wait", m.Pending)
	switch m.Pending {
	case 0: // resources are reserved for them
		rest = "the rest waits"
	case 1:
		rest = "the other pod waits"
	}
	return fmt.Sprintf("%d of %d pods have a node%s (%s); %s: %s", m.Held, m.Total, describeEnded(m), enough, rest, why)
}

// describeEnded describes the pods of a gang that have completed or failed.
func describeEnded(m Members) string {
	text := ""
	if m.Completed > 0 {
		text = fmt.Sprintf(", %d completed", m.Completed)
	}
	if m.Failed > 0 {
		text += fmt.Sprintf(", %d failed", m.Failed)
	}
	return text
}

// describeCause describes why the pending pods are waiting.
func describeCause(v *Verdict) string {
	sentence := reason.Get(v.Code).Sentence
	if describe := wordings[v.Code].cause; describe != nil {
		return describe(v, sentence)
	}
	return sentence
}

// ConditionMessage returns the message of the Unschedulable condition, in Volcano's format.
func ConditionMessage(v *Verdict) string {
	unready := max(v.Members.Min-v.Members.Held-v.Members.Completed, 0)
	return fmt.Sprintf("%d/%d tasks in gang unschedulable: %s", unready, max(v.Members.Total, v.Members.Min), Sentence(v))
}

// PodMessage returns the message for a waiting pod's condition. The message contains no numbers that change often.
func PodMessage(v *Verdict) string {
	sentence := reason.Get(v.Code).Sentence
	if describe := wordings[v.Code].pod; describe != nil {
		return describe(v, sentence)
	}
	return sentence
}

// PodReason returns the reason for a waiting pod's condition. Autoscalers interpret Unschedulable as a lack of nodes,
// so this reason is used only if more nodes could help. grows reports whether an autoscaler adds nodes on demand,
// even for a pod that is also waiting for something else.
func PodReason(v *Verdict, grows bool) string {
	switch class := reason.Get(v.Code).Pod; {
	case class == reason.OwnCode, class == reason.OwnCodeUnlessGrowing && !grows:
		return string(v.Code)
	}
	return corev1.PodReasonUnschedulable
}

// HaveSameMeaning reports whether two explanations have the same meaning, even if numbers of nodes or amounts differ.
func HaveSameMeaning(a, b *schedulingv1beta1.Explanation) bool {
	if a == nil || b == nil {
		return a == b
	}
	return MeaningKey(a) == MeaningKey(b)
}

// MeaningKey returns a string that is the same for all explanations with the same meaning.
func MeaningKey(e *schedulingv1beta1.Explanation) string {
	var b strings.Builder
	b.WriteString(e.Reason)
	if e.Never { // the hint contains the limit, which only users or administrators change
		b.WriteString("|never " + e.Hint)
	}
	if reason.Get(reason.Code(e.Reason)).Has(reason.MessageInMeaning) {
		b.WriteString("|" + e.Message)
	}
	if e.Members != nil {
		fmt.Fprintf(&b, "|%d", e.Members.Min)
	}
	if e.Queue != nil {
		b.WriteString("|" + e.Queue.Name)
	}
	fmt.Fprintf(&b, "|%s|%s", sparedReasons(e.Spared), e.EvictedBy)
	if len(e.Nodes) == 1 { // all nodes were rejected for the same reason
		n := e.Nodes[0]
		switch row := reason.Get(reason.Code(n.Reason)); {
		case row.Has(reason.DetailInMeaning):
			b.WriteString("|" + n.Reason + " " + n.Detail)
		case row.Has(reason.CodeInMeaning):
			b.WriteString("|" + n.Reason)
		}
	}
	for _, s := range e.Short {
		if s.Scope != "nodes" {
			fmt.Fprintf(&b, "|%s %s %s %s", s.Scope, s.Of, s.Resource, s.Asked)
		}
	}
	return b.String()
}
