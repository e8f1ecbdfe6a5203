package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
)

// decideAction chooses the action for the job. It is the action of the oldest command or, if there are no commands, the
// response to the first event to which a policy responds.
func (b *builder) decideAction() decision {
	commanded, ok := b.decideCommand()
	do := responseInPhase(b.currentPhase(), commanded.action)
	if ok && !do.sync && !do.hold {
		return commanded
	}
	isActive := b.currentPhase() == batchv1alpha1.Pending || b.currentPhase() == batchv1alpha1.Running
	if t := b.in.Trouble; isActive && t != nil && t.Hopeless {
		return decision{action: busv1alpha1.TerminateJobAction, why: "retry limit reached: " + t.Message}
	}
	if kill, invalid := b.terminateInvalid(); invalid {
		return kill
	}
	asked := nothing
	switch {
	case b.currentPhase() == batchv1alpha1.Pending, b.currentPhase() == batchv1alpha1.Running, b.currentPhase() == batchv1alpha1.Restarting && len(storedTargets(&b.job.Status)) > 0:
		asked = b.decideEvent()
	}
	if ok && !do.hold {
		asked.idle = commanded.command // the job is already in the requested state, so the command is done
	}
	return asked
}

// commandable lists the actions that a command may request.
var commandable = []busv1alpha1.Action{
	busv1alpha1.AbortJobAction, busv1alpha1.RestartJobAction, busv1alpha1.TerminateJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.ResumeJobAction,
}

// decideCommand returns the action of the oldest command. It deletes commands with an unsupported action, and records
// an event for each.
func (b *builder) decideCommand() (decision, bool) {
	for _, c := range b.in.Commands {
		action := busv1alpha1.Action(c.Action)
		if responseInPhase(b.currentPhase(), action).hold {
			b.requestPlanAfter(retryAfter)
			return decision{action: action}, true
		}
		if action == busv1alpha1.SyncJobAction || action == busv1alpha1.EnqueueAction || slices.Contains(commandable, action) {
			b.appendEvent(corev1.EventTypeNormal, string(batchv1alpha1.CommandIssued),
				"Start to execute command %s, and clean it up to make sure executed not more than once.", c.Action)
			why := "command " + c.Name
			if c.Message != "" {
				why = c.Message + " (" + why + ")"
			}
			return decision{action: action, why: why, command: c}, true
		}
		b.appendEvent(corev1.EventTypeWarning, string(batchv1alpha1.CommandIssued), "Command %s ignored: action %q is not supported for a whole job; supported actions: %v",
			c.Name, c.Action, commandable)
		b.appendWrites(DeleteCommand{Command: c})
	}
	return nothing, false
}

// decideEvent finds the first event whose response is due. Events with the same response are handled together. An
// event with a delayed response is considered again when the delay has passed.
func (b *builder) decideEvent() decision {
	chosen := nothing
	for _, e := range b.collectEvents() {
		a, ok := resolveResponse(b.job, &e)
		if !ok || !b.changesAnything(a, &e) {
			continue
		}
		if (e.inferred || b.in.Doubt) && !b.in.Fresh {
			b.plan.Refresh = true // an outdated cache would look the same, so read the pods again before stopping any
			return nothing
		}
		if a.delay > 0 {
			if e.inferred {
				continue // it is unknown when the event happened
			}
			if left := e.at.Add(a.delay).Sub(b.in.Now); left > 0 {
				b.requestPlanAfter(left)
				b.delayed = true
				b.recordDelay(a, &e)
				b.retainLost(e.lost)
				continue
			}
		}
		switch {
		case chosen.action == busv1alpha1.SyncJobAction:
			chosen = decision{action: a.action, why: e.text, targets: restartTargets(b.job, a.action, &e), cause: e.cause}
		case chosen.action == a.action && isTargeted(a.action):
			chosen.targets = mergeTargets(chosen.targets, restartTargets(b.job, a.action, &e))
		}
	}
	return chosen
}

// recordDelay records an event which says that the response to events of this kind in this task is delayed. It does so
// only once.
func (b *builder) recordDelay(a answer, e *event) {
	key := fmt.Sprintf("delayed/%s/%d/%d", e.kind, e.task, b.job.Status.Version)
	if _, isRecorded := b.plan.Since[key]; isRecorded {
		return
	}
	if b.plan.Since == nil {
		b.plan.Since = map[string]time.Time{}
	}
	at, isRecorded := b.in.Since[key]
	if !isRecorded {
		at = b.in.Now
		b.appendEvent(corev1.EventTypeNormal, string(batchv1alpha1.ExecuteAction), "Execute action %s after %s: %s", a.action, textformat.FormatDuration(a.delay), e.text)
	}
	b.plan.Since[key] = at
}

// changesAnything reports whether a response would change anything in this phase.
func (b *builder) changesAnything(a answer, e *event) bool {
	if isTargeted(a.action) {
		return len(restartTargets(b.job, a.action, e)) > 0
	}
	do := responseInPhase(b.currentPhase(), a.action)
	return !do.sync && !do.hold && a.action != busv1alpha1.ResumeJobAction
}

// retainLost removes lost pods from Plan.Answered, so that the next plan receives them again.
func (b *builder) retainLost(uids []types.UID) {
	b.plan.Answered = slices.DeleteFunc(b.plan.Answered, func(u types.UID) bool { return slices.Contains(uids, u) })
}
