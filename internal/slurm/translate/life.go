package translate

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// keepSeconds is the time for which an ended job is kept for sacct, in seconds.
	keepSeconds = 7 * 24 * 3600
	// maxRequeue is the default maximum number of restarts of a job. Slurm has no limit.
	maxRequeue = 1000
)

// setGates sets the conditions that delay the start of the job: a hold, a begin time and dependencies.
func (b *topic) setGates() {
	if b.r.Hold {
		b.annotate("hold", keys.Hold, keys.HoldUser)
	}
	if b.r.Begin != nil {
		b.annotate("begin", keys.Begin, b.r.Begin.Format(time.RFC3339))
	}
	if b.r.Dependency != "" {
		if _, err := batchv1alpha1.ParseDependency(b.r.Dependency, b.target.namespace); err != nil {
			b.addError(usererror.Errorf(err.Error(), "Batch job submission failed: Job dependency problem"))
		}
		b.annotate("dependency", keys.Dependency, b.r.Dependency)
		b.launch.Dependency = b.r.Dependency
	}
	if b.r.KillOnInvalidDependency {
		b.annotate("kill-on-invalid-dep", keys.KillOnInvalidDependency, "true")
	}
	b.recordFields("kill-on-invalid-dep")
}

// setLifetime sets the time limit of the job, and the policies that end or restart it.
func (b *topic) setLifetime() {
	b.setTimeLimit()
	keep, requeues := int32(keepSeconds), int32(maxRequeue)
	if b.p.KeepSeconds > 0 {
		keep = b.p.KeepSeconds
	}
	if b.p.MaxRequeue != nil {
		requeues = *b.p.MaxRequeue
	}
	b.job.TTLSecondsAfterFinished, b.job.MaxRetry = &keep, requeues
	b.stored.Requeue = b.r.Requeue == nil || *b.r.Requeue
	b.launch.NoRequeue = !b.stored.Requeue
	if b.r.Array != nil {
		b.setArrayPolicies()
	} else {
		b.setJobPolicies()
	}
	if s := b.r.Signal; s != nil {
		b.launch.Signal = &launchconfig.Signal{Number: s.Number, Seconds: s.Before, Batch: s.Batch}
		b.recordFields("signal", "launch.signal")
		if b.launch.TimeLimit == 0 {
			b.addNote("--signal=" + s.String() + " requires a time limit, but --time is not set")
		}
	}
}

func (b *topic) setJobPolicies() {
	evicted := busv1alpha1.RestartJobAction
	if !b.stored.Requeue {
		evicted = busv1alpha1.TerminateJobAction
	}
	b.job.Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.PodEvictedEvent, Action: evicted}}
	b.recordFields("requeue", "spec.policies[0].action")
	b.recordFields("no-requeue", "spec.policies[0].action")
	b.head.Policies = []batchv1alpha1.LifecyclePolicy{
		{ExitCode: new(int32(launchconfig.ExitRequeue)), Action: busv1alpha1.RestartJobAction},
		{ExitCode: new(int32(launchconfig.ExitCancelled)), Action: busv1alpha1.TerminateJobAction},
		{Event: busv1alpha1.TaskCompletedEvent, Action: busv1alpha1.CompleteJobAction},
		{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.TerminateJobAction},
	}
	if b.hasNodeTask() && !b.r.NoKill {
		b.node.Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.TerminateJobAction}}
	}
	b.recordFields("no-kill", "spec.tasks[1].policies")
}

// setArrayPolicies sets the policies of an array, whose elements fail and restart independently of each other.
func (b *topic) setArrayPolicies() {
	again := busv1alpha1.RestartPodAction
	if b.size.nodes > 1 {
		again = busv1alpha1.RestartPartitionAction
	}
	policies := []batchv1alpha1.LifecyclePolicy{{ExitCode: new(int32(launchconfig.ExitRequeue)), Action: again}}
	if b.stored.Requeue {
		policies = append(policies, batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.PodEvictedEvent, Action: again})
	}
	b.head.Policies = policies
	b.recordFields("requeue", "spec.tasks[0].policies")
	b.recordFields("no-requeue", "spec.tasks[0].policies")
}

// setTimeLimit sets the time limit to the requested limit or, if none was requested, to the default of the partition.
func (b *topic) setTimeLimit() {
	limits := b.limits()
	limit := limits.DefaultTime
	if b.r.Time != nil {
		limit = *b.r.Time
	}
	most := limits.MaxTime
	switch {
	case limit == optionvalue.Unlimited && b.r.Time == nil:
		limit = most
	case exceedsLimit(limit, most):
		b.addError(usererror.Errorf("the maximum is "+most.String(), "Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)"))
	}
	if limit == optionvalue.Unlimited {
		b.recordFields("time")
		if b.r.Time != nil && limits.ServerSetsTime { // otherwise, admission would set the default of the queue
			b.pod.ActiveDeadlineSeconds = new(int64(schedulingv1beta1.MaxDeadlineSeconds))
			b.recordFields("time", b.fieldPaths("activeDeadlineSeconds")...)
		}
		return
	}
	seconds := int64(limit) * 60
	b.launch.TimeLimit = seconds
	b.job.RunningEstimate = &metav1.Duration{Duration: limit.ToDuration()}
	b.pod.ActiveDeadlineSeconds = &seconds
	b.recordFields("time", append([]string{"spec.runningEstimate"}, b.fieldPaths("activeDeadlineSeconds")...)...)
}

// setOptions sets the requested options that are stored in an annotation, because the Job does not have fields for all
// of them.
func (b *topic) setOptions() {
	r, o := b.r, &b.stored
	o.Comment, o.WCKey, o.Extra, o.MailUser, o.MailType = r.Comment, r.WCKey, r.Extra, r.MailUser, r.MailType
	o.SubmitHost, o.SubmitLine = b.Host, truncateText(b.Line)
	o.UID, o.GID, o.Group = b.Owner.UID, b.Owner.GID, b.Owner.Group
	if b.ScriptFile != "" { // as in Slurm, a job from --wrap or standard input has no command
		o.Command = truncateText(strings.Join(append([]string{b.ScriptFile}, b.Args...), " "))
	}
	o.Features, o.Exclusive = r.Constraint.String(), r.Exclusive != ""
	o.Tasks, o.TasksPerNode, o.CPUsPerTask = int(b.size.tasks), int(r.TasksPerNode), int(max(r.CPUsPerTask, 1))
	o.MemPerNode, o.MemPerCPU = int64(b.size.memory), mebibytes(r.MemPerCPU)
	if o.MemPerCPU > 0 {
		o.MemPerNode = 0
	}
	var words []string
	for _, g := range b.size.gres {
		words = append(words, g.String())
	}
	o.Gres = strings.Join(words, ",")
	for _, option := range []string{"comment", "wckey", "extra", "mail-type", "mail-user"} {
		b.recordFields(option, keyPath("metadata.annotations", keys.Slurm))
	}
	wantsMail := r.MailType+r.MailUser != "" && !strings.EqualFold(r.MailType, "NONE")
	if wantsMail && b.p.MailNotifier == "" {
		b.warnIneffective("mail-type", "mail-user")
	}
}

// warnIneffective warns, with --verbose or --strict, that an option has no effect. It warns only about the first of the
// options that was specified.
func (b *topic) warnIneffective(options ...string) {
	if b.r.Verbose == 0 && !b.r.Strict {
		return
	}
	for _, name := range options {
		if s, given := b.r.Given[name]; given {
			b.warnings = append(b.warnings, s.String()+" has no effect here"+s.From.String())
			return
		}
	}
}
