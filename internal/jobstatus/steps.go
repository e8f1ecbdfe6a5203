package jobstatus

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Result is the result of a step.
type Result string

// The results.
const (
	Passed   Result = "ok"
	Blocked  Result = "BLOCKED"
	No       Result = "no"
	NotAsked Result = "-" // the job did not reach the step, or it was not evaluated
)

// Step is one of the steps that a job passes before it runs, in their order.
type Step struct {
	Name   string
	Result Result
	Detail string
}

// The positions of the steps.
const (
	atSubmit = iota
	atGate
	atQueue
	atDoor
	atOrder
	atNodes
	atEvict
	atStart
)

// stepOf maps a reason to the step that it blocks. Other reasons block the step atNodes.
var stepOf = map[reason.Code]int{
	reason.JobHeldUser: atGate, reason.JobHeldAdmin: atGate, reason.BeginTime: atGate, reason.Dependency: atGate, reason.DependencyNeverSatisfied: atGate, reason.GateInvalid: atGate,
	reason.JobArrayTaskLimit: atGate,
	reason.QueueMissing:      atQueue, reason.QueueClosed: atQueue, reason.QueueNotLeaf: atQueue, reason.QueueInvalid: atQueue, reason.QueueContradiction: atQueue,
	reason.NotEnqueued: atDoor, reason.Overcommitted: atDoor, reason.OverQuota: atDoor, reason.OverCapability: atDoor, reason.NotEnoughPods: atSubmit,
	reason.OverDeserved: atOrder, reason.BehindOthers: atOrder, reason.Reserved: atOrder, reason.KeptForLost: atOrder,
	reason.NotReclaimable: atEvict, reason.WaitingForVictims: atEvict, reason.PodsLinger: atEvict,
	"Starting": atStart, "Submitted": atDoor, "NoPodGroup": atSubmit, "Suspended": atGate,
}

// Steps returns the steps of a waiting job with their results: the passed steps, the blocked step, and the remaining
// ones. It returns nil for a job that does not wait.
func (a *Account) Steps() []Step {
	if !a.Waits() {
		return nil
	}
	stop, known := stepOf[reason.Code(a.Why.Code)]
	if !known {
		stop = atNodes
	}
	if stop > atDoor && a.Group != nil && a.Group.Status.Phase == schedulingv1beta1.PodGroupPending {
		stop = atDoor
	}
	steps := []Step{
		{"submitted", Passed, Needs(a.Job)}, {"gate", Passed, a.gateText()}, {"queue", Passed, a.queueText()}, {"admitted", Passed, a.doorText()},
		{"order", Passed, a.orderText()}, {"nodes", Passed, a.nodesText()}, {"evict", No, a.evictText()}, {"start", NotAsked, a.startText()},
	}
	for i := range steps {
		switch {
		case i == stop:
			steps[i].Result, steps[i].Detail = Blocked, orElse(a.Why.Message, a.Why.Code)
		case i > stop && i != atEvict:
			steps[i].Result = NotAsked
		}
	}
	if steps[atEvict].Result == No && steps[atEvict].Detail == "" {
		steps[atEvict] = Step{"evict", NotAsked, "no eviction was considered"}
	}
	return steps
}

// gateText describes the conditions that must be met before the job may enter its queue.
func (a *Account) gateText() string {
	var parts []string
	if depends := a.Job.Annotations[keys.Dependency]; depends != "" {
		parts = append(parts, "depends on "+depends)
	}
	if begin := a.Job.Annotations[keys.Begin]; begin != "" {
		parts = append(parts, "begins "+begin)
	}
	return orElse(strings.Join(parts, ", "), "no hold, begin time or dependency")
}

func (a *Account) queueText() string {
	name := orElse(a.Job.Spec.Queue, keys.DefaultQueue)
	if e := a.Explanation(); e != nil && e.Queue != nil {
		return queueFacts(e.Queue)[0].Text
	}
	return name
}

func (a *Account) doorText() string {
	if a.Group == nil || a.Group.Status.Phase == "" {
		return "no pod group yet"
	}
	return "pod group " + string(a.Group.Status.Phase)
}

func (a *Account) orderText() string {
	if e := a.Explanation(); e != nil && e.Queue != nil {
		for _, fact := range queueFacts(e.Queue) {
			if fact.Name == "order" {
				return fact.Text
			}
		}
	}
	return ""
}

func (a *Account) nodesText() string {
	if e := a.Explanation(); e != nil && e.Members != nil {
		return fmt.Sprintf("%d of %d pods fit now", e.Members.Fit, e.Members.Min)
	}
	return ""
}

func (a *Account) evictText() string {
	if e := a.Explanation(); e != nil {
		return sparedText(e.Spared)
	}
	return ""
}

func (a *Account) startText() string {
	if e := a.Explanation(); e != nil {
		return startText(e, a.Zone)
	}
	return ""
}

// Hint returns a hint for the user, with the program's name in place of vcctl.
func (a *Account) Hint(program string) string {
	if a.Why.Code == "" {
		return ""
	}
	return strings.ReplaceAll(a.Why.Hint, "vcctl ", program+" ")
}
