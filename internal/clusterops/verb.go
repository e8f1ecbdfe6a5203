package clusterops

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/jobstatus"
)

// Verb is an action on jobs.
type Verb struct {
	// Name is the verb for the action, Done its past participle: cancel, cancelled.
	Name, Done string
	// Action is the action of the Command that carries it out; "" if it needs no Command.
	Action busv1alpha1.Action
	// refuse returns the reason why the action is impossible, already the reason why there is nothing to do; both
	// return "" if there is no such reason.
	refuse, already func(*batchv1alpha1.Job) string
	// reached reports whether the action has taken effect, given the job before and now.
	reached func(before, now *batchv1alpha1.Job) bool
}

// ResultText returns the sentence about the result for one job or many. The sentence differs for actions with a
// Command, because a Command is only a request to the controller, whereas other actions take effect immediately.
func (v *Verb) ResultText(many bool) string {
	switch {
	case v.Action != "" && many:
		return "will be " + v.Done
	case v.Action != "":
		return "will be " + v.Done
	}
	return v.Done
}

// CheckApplicable returns the reason why the action on a job is impossible, or the reason why there is nothing to do.
// Both are "" if the action should be carried out.
func (v *Verb) CheckApplicable(job *batchv1alpha1.Job) (refused, already string) {
	if v.refuse != nil {
		refused = v.refuse(job)
	}
	if refused == "" && v.already != nil {
		already = v.already(job)
	}
	return refused, already
}

// HasTakenEffect reports whether the action has taken effect, given the job before and now.
func (v *Verb) HasTakenEffect(before, now *batchv1alpha1.Job) bool {
	return v.reached == nil || v.reached(before, now)
}

// IsSuspended reports whether a job in this phase is suspended or about to be.
func IsSuspended(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Aborted || phase == batchv1alpha1.Aborting
}

// hasReachedPhase returns a function that reports whether the job has reached one of these phases.
func hasReachedPhase(wanted ...batchv1alpha1.JobPhase) func(before, now *batchv1alpha1.Job) bool {
	return func(_, now *batchv1alpha1.Job) bool { return slices.Contains(wanted, jobstatus.PhaseOrPending(now)) }
}

// rejectEnded returns a function that rejects jobs that have ended. The reason for the rejection ends with instead,
// which describes an alternative.
func rejectEnded(instead string) func(*batchv1alpha1.Job) string {
	return func(job *batchv1alpha1.Job) string {
		if jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) {
			return "it has ended; " + instead
		}
		return ""
	}
}

// suggestRerunIfEnded rejects jobs that have ended. The reason names the command that runs the job again.
func suggestRerunIfEnded(job *batchv1alpha1.Job) string {
	if job.Annotations[keys.Slurm] != "" {
		return rejectEnded("submit it again; scontrol write batch_script " + job.Labels[keys.JobID] + " saves its script")(job)
	}
	return rejectEnded("run it again with `vcctl job rerun " + job.Name + "`")(job)
}

// textIfPhase returns a function that returns text for jobs whose phase satisfies a condition.
func textIfPhase(holds func(batchv1alpha1.JobPhase) bool, text string) func(*batchv1alpha1.Job) string {
	return func(job *batchv1alpha1.Job) string {
		if holds(jobstatus.PhaseOrPending(job)) {
			return text
		}
		return ""
	}
}

// The verbs.
var (
	Suspend = &Verb{
		Name: "suspend", Done: "suspended", Action: busv1alpha1.AbortJobAction, reached: hasReachedPhase(batchv1alpha1.Aborted),
		refuse: rejectEnded("the job has nothing to suspend"), already: textIfPhase(IsSuspended, "is already suspended"),
	}
	Resume = &Verb{
		Name: "resume", Done: "resumed", Action: busv1alpha1.ResumeJobAction,
		reached: hasReachedPhase(batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Completed),
		refuse:  suggestRerunIfEnded,
		already: textIfPhase(func(phase batchv1alpha1.JobPhase) bool { return !IsSuspended(phase) }, "is not suspended"),
	}
	Restart = &Verb{
		Name: "restart", Done: "restarted", Action: busv1alpha1.RestartJobAction,
		reached: func(before, now *batchv1alpha1.Job) bool {
			return now.Status.Version > before.Status.Version && jobstatus.PhaseOrPending(now) != batchv1alpha1.Restarting
		},
		refuse: func(job *batchv1alpha1.Job) string {
			if IsSuspended(jobstatus.PhaseOrPending(job)) {
				return "the job is suspended; resume it instead"
			}
			return suggestRerunIfEnded(job)
		},
		already: textIfPhase(func(phase batchv1alpha1.JobPhase) bool { return phase == batchv1alpha1.Restarting }, "is already being restarted"),
	}
	Cancel = &Verb{
		Name: "cancel", Done: "cancelled", Action: busv1alpha1.TerminateJobAction, reached: hasReachedPhase(batchv1alpha1.Terminated),
		already: textIfPhase(func(phase batchv1alpha1.JobPhase) bool {
			return jobstatus.IsFinishedPhase(phase) || phase == batchv1alpha1.Terminating
		}, "has already ended"),
	}
	Hold = &Verb{
		Name: "hold", Done: "held",
		refuse: func(job *batchv1alpha1.Job) string {
			if phase := jobstatus.PhaseOrPending(job); phase != batchv1alpha1.Pending && job.Annotations[keys.Hold] == "" {
				return "only pending jobs can be held; use suspend to stop a running job"
			}
			return ""
		},
		already: func(job *batchv1alpha1.Job) string {
			if job.Annotations[keys.Hold] != "" {
				return "is already held"
			}
			return ""
		},
	}
	// HoldForAdmin is Hold on behalf of an administrator.
	HoldForAdmin = &Verb{Name: Hold.Name, Done: Hold.Done, refuse: Hold.refuse, already: Hold.already}
	Release      = &Verb{
		Name: "release", Done: "released",
		already: func(job *batchv1alpha1.Job) string {
			if job.Annotations[keys.Hold] == "" {
				return "is not held"
			}
			return ""
		},
	}
	Delete = &Verb{Name: "delete", Done: "deleted"}
)

// JobCommand returns the Command for an action on a job. As in Volcano, the job is both its owner and its target.
func JobCommand(job *batchv1alpha1.Job, action busv1alpha1.Action) *busv1alpha1.Command {
	c := newCommand(metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job")), job.Namespace, action)
	for _, verb := range []*Verb{Suspend, Resume, Restart, Cancel} {
		if verb.Action == action {
			c.Message = verb.Done + " by a user" // the job's status shows this message
		}
	}
	return c
}

func newCommand(target *metav1.OwnerReference, namespace string, action busv1alpha1.Action) *busv1alpha1.Command {
	return &busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    fmt.Sprintf("%s-%s-", target.Name, strings.ToLower(string(action))),
			Namespace:       namespace,
			OwnerReferences: []metav1.OwnerReference{*target},
		},
		TargetObject: target,
		Action:       string(action),
	}
}
