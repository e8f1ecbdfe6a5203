package sim

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// jobRecord holds the events that open or close the gates of other jobs. It is shared by all jobs that have had the
// same name.
type jobRecord struct {
	started, completed, failed bool
}

func (r *jobRecord) hasEnded() bool { return r.completed || r.failed }

// recordForGates records whether a job has started, completed, failed, or been released from a hold.
func (c *checks) recordForGates(job *batchv1alpha1.Job) {
	name := client.ObjectKeyFromObject(job)
	r := c.gates.jobs[name]
	if r == nil {
		r = &jobRecord{}
		c.gates.jobs[name] = r
	}
	switch job.Status.State.Phase {
	case batchv1alpha1.Running:
		r.started = true
	case batchv1alpha1.Completed:
		r.completed = true
	case batchv1alpha1.Failed, batchv1alpha1.Terminated:
		r.failed = true
	}
	if job.Annotations[keys.Hold] == "" {
		c.gates.released[job.UID] = true
	}
}

// gateRecords holds the past states of jobs, on which the gates of other jobs depend.
type gateRecords struct {
	jobs map[types.NamespacedName]*jobRecord
	// released holds the jobs that have been without a hold.
	released map[types.UID]bool
	// fastestClock is by how much the clock of a program has been ahead, at most.
	fastestClock time.Duration
}

func newGateRecords() gateRecords {
	return gateRecords{jobs: map[types.NamespacedName]*jobRecord{}, released: map[types.UID]bool{}}
}

// checkGate checks that neither a pod nor a PodGroup of a job is created before the job may start. It fails only if the
// gate has been closed since the submission of the job, because controllers may see a release earlier or a hold later.
func (c *checks) checkGate(object client.Object) {
	owner := metav1.GetControllerOf(object)
	if owner == nil || owner.Kind != jobKind.Kind || owner.APIVersion != jobKind.GroupVersion().String() {
		return
	}
	job := c.world.state.jobs[types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}]
	if job == nil || job.UID != owner.UID {
		return
	}
	if !c.gates.released[job.UID] {
		c.world.fail("%s of job %s was created, although the job has been held since its submission", object.GetName(), job.Name)
	}
	begin, err := batchv1alpha1.BeginOf(job)
	if err == nil && begin.After(c.world.now.Add(c.gates.fastestClock)) {
		c.world.fail("%s of job %s was created before the begin time of the job, %s", object.GetName(), job.Name, job.Annotations[keys.Begin])
	}
	if !c.isDependencyMet(job) {
		c.world.fail("%s of job %s was created, although its dependency %s has never been met", object.GetName(), job.Name, job.Annotations[keys.Dependency])
	}
	for _, gate := range []string{keys.Begin, keys.Dependency} {
		if value := job.Annotations[gate]; value != "" {
			kind, _, _ := strings.Cut(value, ":job-")
			c.world.cover("gate of a job", gate+" "+kind)
		}
	}
}

// isDependencyMet reports whether each dependency of a job has been met at some time by a job with the name.
func (c *checks) isDependencyMet(job *batchv1alpha1.Job) bool {
	dependency, err := batchv1alpha1.DependencyOf(job)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(dependency.Terms, func(term batchv1alpha1.DependencyTerm) bool {
		r := c.gates.jobs[types.NamespacedName{Namespace: job.Namespace, Name: term.Job.Name}]
		return r == nil || !r.satisfies(term.Kind)
	})
}

func (r *jobRecord) satisfies(kind batchv1alpha1.DependencyKind) bool {
	switch kind {
	case batchv1alpha1.After:
		return r.started || r.hasEnded()
	case batchv1alpha1.AfterOK:
		return r.completed
	case batchv1alpha1.AfterNotOK:
		return r.failed
	default:
		return r.hasEnded()
	}
}

// isGated reports whether a job may have to wait for its user, a time or another job. Only the current job with a name
// counts, because the controllers may not have seen earlier ones.
func (w *World) isGated(job *batchv1alpha1.Job) bool {
	begin, beginErr := batchv1alpha1.BeginOf(job)
	dependency, err := batchv1alpha1.DependencyOf(job)
	isHeld, isTooEarly := job.Annotations[keys.Hold] != "", begin.After(w.now)
	hasInvalidGate := beginErr != nil || err != nil
	if isHeld || isTooEarly || hasInvalidGate {
		return true
	}
	return slices.ContainsFunc(dependency.Terms, func(term batchv1alpha1.DependencyTerm) bool { return !w.isMetNow(job.Namespace, term) })
}

// isMetNow reports whether the job to which a dependency refers exists and satisfies it.
func (w *World) isMetNow(namespace string, term batchv1alpha1.DependencyTerm) bool {
	target := w.state.jobs[types.NamespacedName{Namespace: namespace, Name: term.Job.Name}]
	if target == nil {
		return false
	}
	phase := target.Status.State.Phase
	r := jobRecord{
		started:   phase == batchv1alpha1.Running,
		completed: phase == batchv1alpha1.Completed,
		failed:    phase == batchv1alpha1.Failed || phase == batchv1alpha1.Terminated,
	}
	return r.satisfies(term.Kind)
}
