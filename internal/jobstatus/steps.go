package jobstatus

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/render"
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

// Step is one of the steps that a job goes through before it runs, in this order.
type Step struct {
	Name   string
	Result Result
	Detail string
}

// blockedStep returns the step that a reason blocks. For an unknown reason, it returns AtNodes, because unknown reasons
// come from other schedulers or from kubelets (such as ImagePullBackOff) and concern pods and nodes.
func blockedStep(code reason.Code) reason.Step {
	row, known := reason.Find(code)
	if !known {
		return reason.AtNodes
	}
	return row.Step
}

// Steps returns the steps of a waiting job and their results: the passed steps, the blocked step, and the remaining
// ones. It returns nil if the job is not waiting.
func (r *Report) Steps() []Step {
	if !r.IsWaitingJob() {
		return nil
	}
	stop := blockedStep(reason.Code(r.Why.Code))
	if stop > reason.AtAdmission && r.Group != nil && r.Group.Status.Phase == schedulingv1beta1.PodGroupPending {
		stop = reason.AtAdmission
	}
	steps := []Step{
		{"submitted", Passed, DescribeRequest(r.Job)}, {"gate", Passed, r.gateText()}, {"queue", Passed, r.queueText()}, {"admitted", Passed, r.admissionText()},
		{"order", Passed, r.orderText()}, {"nodes", Passed, r.nodesText()}, {"evict", No, r.evictText()}, {"start", NotAsked, r.startText()},
	}
	for i := range steps {
		switch at := reason.AtSubmit + reason.Step(i); {
		case at == stop:
			steps[i].Result, steps[i].Detail = Blocked, textOrElse(r.Why.Message, r.Why.Code)
		case at > stop && at != reason.AtEvict:
			steps[i].Result = NotAsked
		}
	}
	if evict := &steps[reason.AtEvict-reason.AtSubmit]; evict.Result == No && evict.Detail == "" {
		*evict = Step{"evict", NotAsked, "no eviction was considered"}
	}
	return steps
}

// gateText describes the conditions that must be met before the job may enter its queue.
func (r *Report) gateText() string {
	var parts []string
	if depends := r.Job.Annotations[keys.Dependency]; depends != "" {
		parts = append(parts, "depends on "+depends)
	}
	if begin := r.Job.Annotations[keys.Begin]; begin != "" {
		parts = append(parts, "begins "+begin)
	}
	return textOrElse(strings.Join(parts, ", "), "no hold, begin time or dependency")
}

func (r *Report) queueText() string {
	name := textOrElse(r.Job.Spec.Queue, keys.DefaultQueue)
	if e := r.Explanation(); e != nil && e.Queue != nil {
		return queueFacts(e.Queue)[0].Text
	}
	return name
}

func (r *Report) admissionText() string {
	if r.Group == nil || r.Group.Status.Phase == "" {
		return "no pod group yet"
	}
	return "pod group " + string(r.Group.Status.Phase)
}

func (r *Report) orderText() string {
	if e := r.Explanation(); e != nil && e.Queue != nil {
		for _, fact := range queueFacts(e.Queue) {
			if fact.Name == "order" {
				return fact.Text
			}
		}
	}
	return ""
}

func (r *Report) nodesText() string {
	if e := r.Explanation(); e != nil && e.Members != nil {
		return fmt.Sprintf("%d of %d pods fit now", e.Members.Fit, e.Members.Min)
	}
	return ""
}

func (r *Report) evictText() string {
	if e := r.Explanation(); e != nil {
		return sparedText(e.Spared)
	}
	return ""
}

func (r *Report) startText() string {
	if e := r.Explanation(); e != nil {
		return startText(e, r.Zone)
	}
	return ""
}

// HintForProgram returns a hint for the user, with the program's name in place of vcctl.
func (r *Report) HintForProgram(program string) string {
	if r.Why.Code == "" {
		return ""
	}
	return render.ReplaceProgramName(r.Why.Hint, program)
}
