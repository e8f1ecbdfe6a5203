package act

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/account"
)

// Verb is something that is done to jobs.
type Verb struct {
	// Name is the word for it, Done that for what was done: cancel, cancelled.
	Name, Done string
	// Action is that of the Command by which it is done; "": it is done otherwise.
	Action busv1alpha1.Action
	// refuse says why it cannot be done, already that there is nothing to do; "" is neither.
	refuse, already func(*batchv1alpha1.Job) string
	// reached says whether it has taken effect on a job that was as before.
	reached func(before, now *batchv1alpha1.Job) bool
}

// Told is what is said of a job, or of many, once the verb was given: a Command only asks its controller, the rest is done at once.
func (v *Verb) Told(many bool) string {
	switch {
	case v.Action != "" && many:
		return "are to be " + v.Done
	case v.Action != "":
		return "is to be " + v.Done
	}
	return v.Done
}

// Judge says of a job why the verb cannot be done to it, or that there is nothing to do; both "" when it is to be done.
func (v *Verb) Judge(job *batchv1alpha1.Job) (refused, already string) {
	if v.refuse != nil {
		refused = v.refuse(job)
	}
	if refused == "" && v.already != nil {
		already = v.already(job)
	}
	return refused, already
}

// Reached says whether the verb, given to a job as it was before, has taken effect.
func (v *Verb) Reached(before, now *batchv1alpha1.Job) bool {
	return v.reached == nil || v.reached(before, now)
}

// Suspended says whether a job in this phase rests, or is about to.
func Suspended(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Aborted || phase == batchv1alpha1.Aborting
}

// inPhase is the effect of a Command that leads to one of these phases.
func inPhase(wanted ...batchv1alpha1.JobPhase) func(before, now *batchv1alpha1.Job) bool {
	return func(_, now *batchv1alpha1.Job) bool { return slices.Contains(wanted, account.Phase(now)) }
}

// afterEnd refuses jobs that have ended, with what to do instead.
func afterEnd(instead string) func(*batchv1alpha1.Job) string {
	return func(job *batchv1alpha1.Job) string {
		if account.Finished(account.Phase(job)) {
			return "it has ended; " + instead
		}
		return ""
	}
}

// when is text for jobs for which a condition on their phase holds.
func when(holds func(batchv1alpha1.JobPhase) bool, text string) func(*batchv1alpha1.Job) string {
	return func(job *batchv1alpha1.Job) string {
		if holds(account.Phase(job)) {
			return text
		}
		return ""
	}
}

// The verbs.
var (
	Suspend = &Verb{
		Name: "suspend", Done: "suspended", Action: busv1alpha1.AbortJobAction, reached: inPhase(batchv1alpha1.Aborted),
		refuse: afterEnd("there is nothing to suspend"), already: when(Suspended, "suspended already"),
	}
	Resume = &Verb{
		Name: "resume", Done: "resumed", Action: busv1alpha1.ResumeJobAction,
		reached: inPhase(batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Completed),
		refuse:  afterEnd("run it anew"),
		already: when(func(phase batchv1alpha1.JobPhase) bool { return !Suspended(phase) }, "is not suspended"),
	}
	Restart = &Verb{
		Name: "restart", Done: "restarted", Action: busv1alpha1.RestartJobAction,
		reached: func(before, now *batchv1alpha1.Job) bool {
			return now.Status.Version > before.Status.Version && account.Phase(now) != batchv1alpha1.Restarting
		},
		refuse: func(job *batchv1alpha1.Job) string {
			if Suspended(account.Phase(job)) {
				return "it is suspended; resume it"
			}
			return afterEnd("run it anew")(job)
		},
		already: when(func(phase batchv1alpha1.JobPhase) bool { return phase == batchv1alpha1.Restarting }, "is being restarted already"),
	}
	Cancel = &Verb{
		Name: "cancel", Done: "cancelled", Action: busv1alpha1.TerminateJobAction, reached: inPhase(batchv1alpha1.Terminated),
		already: when(func(phase batchv1alpha1.JobPhase) bool {
			return account.Finished(phase) || phase == batchv1alpha1.Terminating
		}, "has ended already"),
	}
	Hold = &Verb{
		Name: "hold", Done: "held",
		refuse: func(job *batchv1alpha1.Job) string {
			if phase := account.Phase(job); phase != batchv1alpha1.Pending && job.Annotations[keys.Hold] == "" {
				return "only what has not started can be held; suspend stops what runs"
			}
			return ""
		},
		already: func(job *batchv1alpha1.Job) string {
			if job.Annotations[keys.Hold] != "" {
				return "is held already"
			}
			return ""
		},
	}
	// HoldForAdmin is Hold by who runs the cluster.
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

// JobCommand is the wire contract of Volcano for what is done to a job: owned by and aimed at it.
func JobCommand(job *batchv1alpha1.Job, action busv1alpha1.Action) *busv1alpha1.Command {
	c := command(metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job")), job.Namespace, action)
	for _, verb := range []*Verb{Suspend, Resume, Restart, Cancel} {
		if verb.Action == action {
			c.Message = verb.Done + " by hand" // this is what the job's status says of it
		}
	}
	return c
}

func command(target *metav1.OwnerReference, namespace string, action busv1alpha1.Action) *busv1alpha1.Command {
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
