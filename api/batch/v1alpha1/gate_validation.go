package v1alpha1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// JobLookup provides access to the existing jobs during validation.
//
// +kubebuilder:object:generate=false
type JobLookup interface {
	// Job returns the job that a reference refers to, or nil.
	Job(JobReference) *Job
}

// validateGates checks the annotations that delay the start of a job.
func validateGates(job *Job, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch held := job.Annotations[keys.Hold]; held {
	case "", keys.HoldUser, keys.HoldAdmin:
	default:
		errs = append(errs, field.NotSupported(path.Key(keys.Hold), held, []string{keys.HoldUser, keys.HoldAdmin}))
	}
	if _, err := BeginOf(job); err != nil {
		errs = append(errs, field.Invalid(path.Key(keys.Begin), job.Annotations[keys.Begin], err.Error()))
	}
	if kill := job.Annotations[keys.KillOnInvalidDependency]; kill != "" && kill != "true" && kill != "false" {
		errs = append(errs, field.NotSupported(path.Key(keys.KillOnInvalidDependency), kill, []string{"true", "false"}))
	}
	d, err := DependencyOf(job)
	if err != nil {
		return append(errs, field.Invalid(path.Key(keys.Dependency), job.Annotations[keys.Dependency], err.Error()))
	}
	for _, term := range d.Terms {
		if term.Kind != Singleton && job.Name != "" && term.Job.Names(job) {
			errs = append(errs, field.Invalid(path.Key(keys.Dependency), term.String(), "the job depends on itself and would never start: specify another job"))
		}
	}
	return errs
}

// gatesChanged reports whether an annotation that delays the start has changed.
func gatesChanged(old, updated *Job) bool {
	return annotationsDiffer(old, updated, keys.Hold, keys.Begin, keys.Dependency, keys.KillOnInvalidDependency)
}

// ValidateDependency checks that the jobs of a dependency exist. It rejects an unknown number, because jobs get new
// numbers when they are created, so no job will ever get this one. It accepts an unknown name, because a job with
// that name may be created later. It also rejects a dependency that would make jobs wait for each other in a cycle.
func ValidateDependency(job *Job, jobs JobLookup) field.ErrorList {
	d, err := DependencyOf(job)
	if err != nil || jobs == nil || len(d.Terms) == 0 {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(keys.Dependency)
	var errs field.ErrorList
	for _, term := range d.Terms {
		if term.Kind == Singleton || (job.Name != "" && term.Job.Names(job)) {
			continue // validateGates reports a job that waits for itself
		}
		target := jobs.Job(term.Job)
		if target == nil {
			if term.Job.ID > 0 {
				errs = append(errs, field.Invalid(at, term.String(), fmt.Sprintf(
					"job %d does not exist: list the job numbers with vcctl job list; to depend on a job that does not exist yet, use the job's name", term.Job.ID)))
			}
			continue
		}
		if way := wayBack(target, job, jobs, map[string]bool{}); way != nil && !d.Any {
			errs = append(errs, field.Invalid(at, term.String(), fmt.Sprintf(
				"jobs would wait for each other forever: %s, %s", job.Name, strings.Join(way, ", "))))
		}
	}
	return errs
}

// DependencyWarnings returns warnings about dependencies of a new job on names for which there is no job. Such a job
// may be created later, or the name may be wrong.
func DependencyWarnings(job *Job, jobs JobLookup) []string {
	d, err := DependencyOf(job)
	if err != nil || jobs == nil {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(keys.Dependency)
	var warnings []string
	for _, term := range d.Terms {
		refersByName := term.Kind != Singleton && term.Job.ID == 0
		if refersByName && !term.Job.Names(job) && jobs.Job(term.Job) == nil {
			warnings = append(warnings, fmt.Sprintf("%s: job %s does not exist yet; this job waits until the other job exists", at, term.Job))
		}
	}
	return warnings
}

// wayBack returns a path of dependencies that leads from one job to another, or nil. It follows only dependencies
// that must be met before a job can start.
func wayBack(from, to *Job, jobs JobLookup, seen map[string]bool) []string {
	if from.Namespace == to.Namespace && from.Name == to.Name {
		return []string{from.Name}
	}
	key := from.Namespace + "/" + from.Name
	d, err := DependencyOf(from)
	hasAlternatives := d.Any && len(d.Terms) > 1
	if seen[key] || err != nil || hasAlternatives {
		return nil
	}
	if phase := from.Status.State.Phase; phase != "" && phase != Pending {
		return nil
	}
	seen[key] = true
	for _, term := range d.Terms {
		if term.Kind == Singleton {
			continue
		}
		next := jobs.Job(term.Job)
		if term.Job.Names(to) {
			next = to // it is about to be created
		}
		if next == nil {
			continue
		}
		if rest := wayBack(next, to, jobs, seen); rest != nil {
			return append([]string{from.Name}, rest...)
		}
	}
	return nil
}
