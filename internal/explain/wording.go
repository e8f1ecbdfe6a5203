package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/api/reason"
)

// wording holds functions for the texts of a reason that depend on the verdict. They receive the verdict and the text
// in the table of reasons. If a function is nil, the text in the table is used unchanged.
type wording struct {
	// cause describes why the pending pods wait.
	cause func(v *Verdict, sentence string) string
	// pod returns the text for the condition of a single pod. It does not contain numbers that change often.
	pod func(v *Verdict, sentence string) string
	// hint describes what the user can do.
	hint func(v *Verdict, hint string) string
	// never describes what the user can do if the whole request exceeds the limit.
	never func(v *Verdict) string
}

// wordings holds the texts with numbers, by reason. Everything else about a reason is in the table of package reason.
var wordings = map[reason.Code]wording{
	reason.NotEnoughPods:     {cause: missingPods, hint: hintOfMissingPods},
	reason.NoHyperNode:       {cause: withTopology},
	reason.SubGroupInvalid:   {cause: withTopology},
	reason.HyperNodeInvalid:  {cause: withHyperNode},
	reason.QueueMissing:      {cause: withQueue, pod: withQueue},
	reason.QueueClosed:       {cause: withQueue, pod: withQueue, hint: hintOfClosedQueue},
	reason.QueueNotLeaf:      {cause: withQueue, pod: withQueue},
	reason.QueueInvalid:      {cause: invalidQueue, pod: invalidQueue},
	reason.OverCapability:    {cause: overCapability, pod: ofCapability, hint: hintOfCapability, never: neverOfCapability},
	reason.OverDeserved:      {cause: overDeserved, pod: ofShare, hint: hintOfShare},
	reason.OverQuota:         {cause: overQuota, never: neverOfQuota},
	reason.Overcommitted:     {cause: overcommitted, never: neverOfOvercommit},
	reason.NotEnqueued:       {cause: notEnqueued},
	reason.NotReclaimable:    {cause: notReclaimable, pod: notReclaimableOfPod},
	reason.Reserved:          {cause: reserved},
	reason.KeptForLost:       {cause: keptForLost},
	reason.SchedulingGated:   {cause: gated},
	reason.BehindOthers:      {cause: behindOthers},
	reason.WaitingForVictims: {cause: withBlockers},
	reason.PodsLinger:        {cause: withBlockers},
	reason.GangDoesNotFit:    {cause: doesNotFit, pod: doesNotFitOfPod, hint: hintOfGang},
	reason.TooLarge:          {cause: doesNotFit, hint: hintOfLargePods},
}

// maxGates is the maximum number of scheduling gates to list.
const maxGates = 3

func missingPods(v *Verdict, sentence string) string {
	m := v.Members
	switch {
	case v.Role != "":
		return fmt.Sprintf("fewer pods of task %s exist than the gang needs: %d of %d", v.Role, v.RoleMin-v.RoleMissing, v.RoleMin)
	case v.SubGroup != "":
		return fmt.Sprintf("%s: %s", sentence, v.SubGroup)
	}
	return fmt.Sprintf("%s: %d of %d%s", sentence, m.Exist, m.Min, ended(Members{Failed: m.Failed}))
}

func hintOfMissingPods(v *Verdict, hint string) string {
	if v.Members.Failed > 0 {
		return "delete the failed pods and create them again, because a failed pod does not count; or lower minAvailable (minMember of a PodGroup)"
	}
	return hintOfNodes(v, hint)
}

func withTopology(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s", sentence, v.Topology)
}

func withHyperNode(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s: %s", sentence, v.HyperNode, v.Topology)
}

func withQueue(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s", sentence, v.Limit.Queue)
}

func invalidQueue(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: queue %s: %s", sentence, v.Limit.Queue, strings.Join(v.Blocker, ", "))
}

func hintOfClosedQueue(v *Verdict, hint string) string {
	return hintOfNodes(v, strings.ReplaceAll(hint, "QUEUE", v.Limit.Queue))
}

func ofCapability(v *Verdict, _ string) string {
	return fmt.Sprintf("queue %s would exceed its capability", v.Limit.Queue)
}

func overCapability(v *Verdict, sentence string) string {
	if v.Never() {
		return fmt.Sprintf("the request exceeds the capability of queue %s: %s", v.Limit.Queue, beyond(v.limits()))
	}
	return fmt.Sprintf("%s: %s", ofCapability(v, sentence), gap(v.Limit))
}

func hintOfCapability(v *Verdict, hint string) string {
	if v.Limit.Ending > 0 {
		return "wait until the deleted pods have terminated, or raise the capability"
	}
	return hint
}

func neverOfCapability(v *Verdict) string {
	return atMost(v, fmt.Sprintf("raise the capability of queue %s, or submit to another queue", v.Limit.Queue))
}

func ofShare(v *Verdict, _ string) string {
	return fmt.Sprintf("queue %s would exceed its share", v.Limit.Queue)
}

func overDeserved(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s", ofShare(v, sentence), share(v.Limit))
}

func hintOfShare(v *Verdict, _ string) string {
	if v.Limit.Held > 0 {
		return "wait until jobs of this queue end or other queues request less, raise its weight, or request less"
	}
	return "wait until other queues request less, raise this queue's weight, or request less"
}

func neverOfQuota(v *Verdict) string { return atMost(v, "or raise the ResourceQuota") }

func overcommitted(v *Verdict, sentence string) string {
	if v.Never() {
		return fmt.Sprintf("the request exceeds the overcommit limit of the cluster: %s", beyond(v.limits()))
	}
	return fmt.Sprintf("%s: %s", sentence, gap(v.Limit))
}

func neverOfOvercommit(v *Verdict) string {
	const remedy = "add nodes, or raise overcommit-factor"
	limits := v.limits()
	if v.Limit.Limit <= 0 && (v.Limit.Kept > 0 || len(limits) == 1) {
		return atMost(v, remedy)
	}
	return fmt.Sprintf("request less (the overcommit limit of the cluster is %s), %s", amounts(limits), remedy)
}

func notEnqueued(v *Verdict, sentence string) string {
	if v.Queue != "" {
		sentence = "it is not yet admitted to queue " + v.Queue
	}
	if v.Limit != nil {
		return fmt.Sprintf("%s: %s", sentence, gap(v.Limit))
	}
	return sentence
}

func notReclaimable(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: queue %s (%s)", sentence, strings.Join(v.Blocker, ", "), tally(v))
}

func notReclaimableOfPod(v *Verdict, sentence string) string {
	return notReclaimable(&Verdict{Code: v.Code, Blocker: v.Blocker}, sentence)
}

func reserved(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s, from %s", sentence, strings.Join(v.Blocker, ", "), v.Until.UTC().Format(time.RFC3339))
}

func keptForLost(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s, until %s", sentence, strings.Join(v.Blocker, ", "), v.Until.UTC().Format(time.RFC3339))
}

// gated lists the gates that pods wait for. The text does not change while the gates are being removed from many
// pods.
func gated(v *Verdict, sentence string) string {
	if len(v.Gates) == 0 {
		return sentence
	}
	gates, named := "gate", v.Gates[:min(len(v.Gates), maxGates)]
	names := strings.Join(named, ", ")
	if len(v.Gates) > 1 {
		gates = "gates"
	}
	if more := len(v.Gates) - len(named); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	if v.Gated == 1 {
		return fmt.Sprintf("1 pod waits for its scheduling %s %s", gates, names)
	}
	return fmt.Sprintf("pods wait for their scheduling %s %s", gates, names)
}

func behindOthers(v *Verdict, sentence string) string {
	if len(v.Blocker) == 0 {
		return sentence
	}
	return fmt.Sprintf("%s is ahead of it in queue %s", strings.Join(v.Blocker, ", "), v.Queue)
}

func withBlockers(v *Verdict, sentence string) string {
	if len(v.Blocker) == 0 {
		return sentence
	}
	return fmt.Sprintf("%s: %s", sentence, strings.Join(v.Blocker, ", "))
}

func doesNotFit(v *Verdict, sentence string) string {
	isCluster := v.Limit != nil && v.Limit.Cluster
	switch {
	case isCluster && v.Never() && v.Tally.Looked > 0:
		return fmt.Sprintf("%s: the cluster is too small: %s; %s", sentence, beyond(v.limits()), fitting(v))
	case isCluster && v.Never():
		return fmt.Sprintf("%s: the cluster is too small: %s", sentence, beyond(v.limits()))
	case isCluster:
		return fmt.Sprintf("%s: the cluster is too small: %s", sentence, gap(v.Limit))
	case v.Limit != nil && v.Limit.Node:
		return fmt.Sprintf("%s: %s", sentence, largest(v))
	case alone(v):
		return "its pod fits no node: " + place(v) + tally(v)
	}
	return fmt.Sprintf("%s: %s", sentence, fitting(v))
}

func doesNotFitOfPod(v *Verdict, sentence string) string {
	if v.Extra {
		return "no node has enough free resources for it; its gang runs without it"
	}
	return sentence
}

func hintOfGang(v *Verdict, hint string) string {
	switch {
	case v.Limit == nil && v.HyperNode != "":
		return "wait, allow the gang a higher tier (highestTierAllowed), or request less"
	case alone(v):
		hint = "lower the requests, or add nodes"
	case v.Extra:
		hint = reason.Get(reason.ExtraPodsWait).Hint
	}
	return hintOfNodes(v, hint)
}

func hintOfLargePods(v *Verdict, hint string) string {
	if v.Limit != nil && v.Limit.Node {
		return smaller(v)
	}
	return hintOfNodes(v, hint)
}
