package plan

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// relatives holds the jobs that are related to a job, indexed by the references that may refer to them, because a job
// may have thousands of dependencies.
type relatives struct {
	jobs   []*batchv1alpha1.Job
	byID   map[int64]*batchv1alpha1.Job
	byName map[types.NamespacedName]*batchv1alpha1.Job
	// dead holds the jobs from which no chain of dependencies leads back to the original job.
	dead map[types.UID]bool
}

func indexRelatives(jobs []*batchv1alpha1.Job) *relatives {
	r := &relatives{jobs: jobs, byID: map[int64]*batchv1alpha1.Job{}, byName: map[types.NamespacedName]*batchv1alpha1.Job{}, dead: map[types.UID]bool{}}
	for _, job := range jobs {
		if id, ok := batchv1alpha1.JobID(job); ok {
			if found := r.byID[id]; found == nil || job.CreationTimestamp.Before(&found.CreationTimestamp) {
				r.byID[id] = job
			}
		}
		name := types.NamespacedName{Namespace: job.Namespace, Name: job.Name}
		if found := r.byName[name]; found == nil || job.CreationTimestamp.Before(&found.CreationTimestamp) {
			r.byName[name] = job
		}
	}
	return r
}

// findReferenced returns the job to which a reference refers, or nil. If several jobs have the same number, it returns
// the oldest.
func (r *relatives) findReferenced(reference batchv1alpha1.JobReference) *batchv1alpha1.Job {
	if reference.ID > 0 {
		return r.byID[reference.ID]
	}
	return r.byName[types.NamespacedName{Namespace: reference.Namespace, Name: reference.Name}]
}

// findDependencyCycle returns the path from target back to job along dependencies that must be met before a job can
// start, or nil if none exists.
func (r *relatives) findDependencyCycle(job, target *batchv1alpha1.Job) []string {
	seen := map[types.UID]bool{}
	if way := r.walkTo(job, target, seen); way != nil {
		return append([]string{describeJob(job)}, way...)
	}
	maps.Copy(r.dead, seen)
	return nil
}

// walkTo returns a path of dependencies that leads from a job to the goal, or nil if none exists. It does not visit a
// job twice.
func (r *relatives) walkTo(goal, at *batchv1alpha1.Job, seen map[types.UID]bool) []string {
	if at.UID == goal.UID {
		return []string{describeJob(at)}
	}
	isPast := HasEverStarted(at) || hasEndedForGood(at.Status.State.Phase)
	if isPast || r.dead[at.UID] || seen[at.UID] {
		return nil
	}
	seen[at.UID] = true
	d, err := batchv1alpha1.DependencyOf(at)
	if err != nil || (d.Any && len(d.Terms) > 1) {
		return nil
	}
	for _, term := range d.Terms {
		next := r.findReferenced(term.Job)
		if next == nil || term.Kind == batchv1alpha1.Singleton {
			continue
		}
		if rest := r.walkTo(goal, next, seen); rest != nil {
			return append([]string{describeJob(at)}, rest...)
		}
	}
	return nil
}

// SingletonJobAhead returns the oldest job that a job with a singleton dependency must wait for. Such jobs have the
// same user and title, have not ended, and have started or are older. SingletonJobAhead returns nil if none exists.
func SingletonJobAhead(job *batchv1alpha1.Job, others []*batchv1alpha1.Job) *batchv1alpha1.Job {
	var first *batchv1alpha1.Job
	for _, other := range others {
		isRival := batchv1alpha1.SameSingleton(job, other) && !hasEndedForGood(other.Status.State.Phase)
		if !isRival || (!HasEverStarted(other) && !isOlderJob(other, job)) {
			continue
		}
		if first == nil || isOlderJob(other, first) {
			first = other
		}
	}
	return first
}

// DependsOnEnd reports whether a waiting job still depends on how the other job ends. Once a term is met, or can never
// be met, its result is final. An exception is a met term by which array elements wait for the corresponding elements
// of another array, because the elements are evaluated one by one. A singleton term never depends on how a job ends.
func DependsOnEnd(waiting, other *batchv1alpha1.Job) bool {
	d, err := batchv1alpha1.DependencyOf(waiting)
	if err != nil {
		return false
	}
	var gate batchv1alpha1.JobGate
	if waiting.Status.Gate != nil {
		gate = *waiting.Status.Gate
	}
	met := func(term batchv1alpha1.DependencyTerm) bool { return slices.Contains(gate.Met, term.String()) }
	failed := func(term batchv1alpha1.DependencyTerm) bool { return slices.Contains(gate.Failed, term.String()) }
	if !d.Any && slices.ContainsFunc(d.Terms, failed) {
		return false // the waiting job can never start
	}
	if d.Any && slices.ContainsFunc(d.Terms, met) {
		return false // one met term is enough
	}
	return slices.ContainsFunc(d.Terms, func(term batchv1alpha1.DependencyTerm) bool {
		isAboutOther := term.Kind != batchv1alpha1.Singleton && term.Job.Names(other)
		isOpen := term.Kind == batchv1alpha1.AfterCorr || !met(term)
		return isAboutOther && isOpen && !failed(term)
	})
}

// isOlderJob reports whether a is older than b. Jobs that were created in the same second are ordered by number, then
// by UID.
func isOlderJob(a, b *batchv1alpha1.Job) bool {
	idA, _ := batchv1alpha1.JobID(a)
	idB, _ := batchv1alpha1.JobID(b)
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(idA, idB), cmp.Compare(a.UID, b.UID)) < 0
}

// describeJob returns the number and name of a job.
func describeJob(job *batchv1alpha1.Job) string {
	name := job.Namespace + "/" + job.Name
	if id, ok := batchv1alpha1.JobID(job); ok {
		return batchv1alpha1.FormatJobID(id) + " (" + name + ")"
	}
	return name
}

// HasEverStarted reports whether a job is running or has ever run.
func HasEverStarted(job *batchv1alpha1.Job) bool {
	return job.Status.State.Phase == batchv1alpha1.Running || slices.ContainsFunc(job.Status.Conditions, func(c batchv1alpha1.JobCondition) bool { return c.Status == batchv1alpha1.Running })
}

// hasEndedForGood reports whether a job in this phase will never run again. A suspended job may run again.
func hasEndedForGood(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Completed || phase == batchv1alpha1.Failed || phase == batchv1alpha1.Terminated
}
