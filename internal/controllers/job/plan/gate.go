package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/api/textformat"
)

// gate reports whether a job may start, and the reason if it may not.
type gate struct {
	// code is the reason; empty if the job may start.
	code reason.Code
	// text is a sentence for users.
	text string
	// until is the time to check again if nothing changes before then; zero if only a change can open the gate.
	until time.Time
	// met lists the dependencies that are met and will remain met.
	met []string
	// failed lists the dependencies that can never be met, because the other job has ended.
	failed []string
	// never is true if the dependency can never be met.
	never bool
}

func (g *gate) isGateOpen() bool { return g.code == "" }

// evaluateGate determines whether a job may start. The job must not be held, its begin time must have passed, and its
// dependency must be met. others contains the jobs that this job depends on, the jobs that those depend on, and the
// jobs with the same title.
func evaluateGate(job *batchv1alpha1.Job, others []*batchv1alpha1.Job, now time.Time) gate {
	dependency, err := batchv1alpha1.DependencyOf(job)
	begin, beginErr := batchv1alpha1.BeginOf(job)
	d := evaluateDependency(job, dependency, others, now)
	switch {
	case err != nil:
		return gate{code: reason.GateInvalid, text: fmt.Sprintf("annotation %s: %v", keys.Dependency, err)}
	case beginErr != nil:
		return gate{code: reason.GateInvalid, text: fmt.Sprintf("annotation %s: %v", keys.Begin, beginErr)}
	}
	switch held := job.Annotations[keys.Hold]; {
	case held == keys.HoldAdmin:
		d.code, d.text = reason.JobHeldAdmin, "the job is held by an administrator"
	case held != "":
		d.code, d.text = reason.JobHeldUser, "the job is held by its user"
	case d.never:
	case begin.After(now):
		d.until = begin
		d.code, d.text = reason.BeginTime, "the job does not start before "+begin.UTC().Format(time.RFC3339)
	}
	return d
}

// verdict is the state of one term of a dependency.
type verdict struct {
	met, never bool
	// ended is true if the other job has ended, so that its result is final.
	ended bool
	text  string // the missing condition
	until time.Time
}

// evaluateDependency evaluates all terms of a dependency.
func evaluateDependency(job *batchv1alpha1.Job, d batchv1alpha1.Dependency, others []*batchv1alpha1.Job, now time.Time) gate {
	g := gate{}
	var before batchv1alpha1.JobGate
	if job.Status.Gate != nil {
		before = *job.Status.Gate
	}
	var waits, hopeless []string
	met, around := 0, indexRelatives(others)
	for _, term := range d.Terms {
		v := evaluateTermOnce(job, term, around, &before, now)
		g.recordResult(term, v)
		switch {
		case v.met:
			met++
		case v.never:
			hopeless = append(hopeless, v.text)
		default:
			waits = append(waits, v.text)
			g.until = earlierTime(g.until, v.until)
		}
	}
	switch {
	case len(d.Terms) == 0, d.Any && met > 0, met == len(d.Terms):
		g.until = time.Time{}
	case len(hopeless) > 0 && (!d.Any || len(waits) == 0):
		g.code, g.never, g.until = reason.DependencyNeverSatisfied, true, time.Time{}
		g.text = "the job's dependency can never be satisfied: " + strings.Join(shortenTerms(hopeless), "; ")
	default:
		joint := "; "
		if d.Any {
			joint = "; or "
		}
		g.code = reason.Dependency
		g.text = "it waits until " + strings.Join(shortenTerms(waits), joint)
	}
	return g
}

// evaluateTermOnce evaluates a term, except if the job's gate has already recorded the term's final result.
func evaluateTermOnce(job *batchv1alpha1.Job, term batchv1alpha1.DependencyTerm, around *relatives, before *batchv1alpha1.JobGate, now time.Time) verdict {
	v := verdict{met: slices.Contains(before.Met, term.String())}
	if !v.met {
		v = evaluateTerm(job, term, around, now)
	}
	if !v.ended && slices.Contains(before.Failed, term.String()) { // the other job no longer exists
		return verdict{never: true, ended: true, text: fmt.Sprintf("job %s %s (it no longer exists)", term.Job, hadEnded[term.Kind])}
	}
	return v
}

// recordResult records the result of a term if it is final.
func (g *gate) recordResult(term batchv1alpha1.DependencyTerm, v verdict) {
	if v.never && v.ended {
		g.failed = append(g.failed, term.String())
	}
	if v.met && term.Kind != batchv1alpha1.Singleton { // another job with the same title may be created later
		g.met = append(g.met, term.String())
	}
}

// earlierTime returns the earlier of two times. The zero time counts as later than any other.
func earlierTime(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// mostTerms is the maximum number of terms listed in a sentence.
const mostTerms = 5

func shortenTerms(texts []string) []string {
	if len(texts) <= mostTerms {
		return texts
	}
	return append(slices.Clone(texts[:mostTerms]), fmt.Sprintf("and %d more", len(texts)-mostTerms))
}

func evaluateTerm(job *batchv1alpha1.Job, term batchv1alpha1.DependencyTerm, others *relatives, now time.Time) verdict {
	if term.Kind == batchv1alpha1.Singleton {
		return evaluateSingleton(job, others.jobs)
	}
	target := others.findReferenced(term.Job)
	switch {
	case target != nil:
	case term.Job.ID == 0:
		return verdict{text: fmt.Sprintf("job %s has been created and %s", term.Job, whenMet[term.Kind])}
	case term.Kind == batchv1alpha1.AfterOK || term.Kind == batchv1alpha1.AfterCorr:
		return verdict{never: true, text: fmt.Sprintf("job %s no longer exists, and it is unknown whether it completed", term.Job)}
	default:
		return verdict{met: true} // a job that no longer exists has ended
	}
	if circle := others.findDependencyCycle(job, target); circle != nil {
		return verdict{never: true, text: "jobs wait for each other: " + strings.Join(circle, ", ")}
	}
	v := evaluateJobTerm(job, term, target, now)
	v.ended = hasEndedForGood(target.Status.State.Phase)
	return v
}

// evaluateJobTerm evaluates one term against the job that it refers to.
func evaluateJobTerm(job *batchv1alpha1.Job, term batchv1alpha1.DependencyTerm, target *batchv1alpha1.Job, now time.Time) verdict {
	switch term.Kind {
	case batchv1alpha1.After:
		return evaluateStart(term, target, now)
	case batchv1alpha1.AfterCorr:
		return evaluateCorresponding(job, term, target)
	}
	return evaluateEnd(term, outcomeOfReference(target, term.Job))
}

// whenMet maps each kind of dependency to the end of a sentence about another job. The sentence describes what must
// happen before a term of the kind is met.
var whenMet = map[batchv1alpha1.DependencyKind]string{
	batchv1alpha1.After: "has started", batchv1alpha1.AfterAny: "has ended", batchv1alpha1.AfterOK: "has completed", batchv1alpha1.AfterNotOK: "ended without completing",
	batchv1alpha1.AfterCorr: "has completed a corresponding task",
}

// hadEnded maps each kind of dependency to the end of a sentence about another job. The sentence describes why a term
// of the kind can never be met.
var hadEnded = map[batchv1alpha1.DependencyKind]string{
	batchv1alpha1.After: "has ended", batchv1alpha1.AfterAny: "has ended", batchv1alpha1.AfterOK: "ended without completing", batchv1alpha1.AfterNotOK: "has completed",
	batchv1alpha1.AfterCorr: "has not completed any of the corresponding tasks",
}

// evaluateSingleton evaluates a singleton dependency. The job must wait for jobs with the same user and title that have
// started or are older.
func evaluateSingleton(job *batchv1alpha1.Job, others []*batchv1alpha1.Job) verdict {
	if other := SingletonJobAhead(job, others); other != nil {
		return verdict{text: fmt.Sprintf("job %s, with the same user and title, has ended", describeJob(other))}
	}
	return verdict{met: true}
}

// evaluateStart evaluates a dependency on the start of a job. If the job ended without starting, its end counts
// instead.
func evaluateStart(term batchv1alpha1.DependencyTerm, target *batchv1alpha1.Job, now time.Time) verdict {
	var since metav1.Time
	switch {
	case HasEverStarted(target):
		since = target.Status.State.LastTransitionTime
		for _, c := range target.Status.Conditions {
			if c.Status == batchv1alpha1.Running && c.LastTransitionTime != nil {
				since = *c.LastTransitionTime
			}
		}
	case hasEndedForGood(target.Status.State.Phase):
		since = target.Status.State.LastTransitionTime
	default:
		return verdict{text: fmt.Sprintf("job %s has started", describeJob(target))}
	}
	due := since.Add(term.Delay)
	if due.After(now) {
		return verdict{until: due, text: fmt.Sprintf("%s have passed since job %s started", textformat.FormatDuration(term.Delay), describeJob(target))}
	}
	return verdict{met: true}
}

// outcome is the result of a job or of an array element.
type outcome struct {
	ended, ok bool
	name      string
	// partly is true if an array has completed although not all of its elements have succeeded.
	partly bool
}

// outcomeOfReference returns the result of the job or element to which a reference refers. A whole array is ok only if
// all its elements have succeeded.
func outcomeOfReference(target *batchv1alpha1.Job, r batchv1alpha1.JobReference) outcome {
	o := outcome{name: describeJob(target), ended: hasEndedForGood(target.Status.State.Phase), ok: target.Status.State.Phase == batchv1alpha1.Completed}
	states := target.Status.Array
	if states == nil {
		return o
	}
	if !r.HasElement {
		o.partly = o.ok && states.Failed+states.Cancelled != ""
		o.ok = o.ok && !o.partly
		return o
	}
	o.name = fmt.Sprintf("%s, index %d,", o.name, r.Element)
	has := func(set string) bool {
		s, err := batchv1alpha1.ParseIndices(set)
		return err == nil && s.Has(r.Element)
	}
	o.ok = has(states.Succeeded)
	hasEnded := o.ok || has(states.Failed) || has(states.Cancelled)
	o.ended = o.ended || hasEnded
	return o
}

// evaluateEnd evaluates a dependency on the end of a job.
func evaluateEnd(term batchv1alpha1.DependencyTerm, o outcome) verdict {
	switch {
	case !o.ended:
		return verdict{text: fmt.Sprintf("job %s %s", o.name, whenMet[term.Kind])}
	case term.Kind == batchv1alpha1.AfterOK && o.partly:
		return verdict{never: true, text: fmt.Sprintf("job %s has ended, but not all of its tasks succeeded", o.name)}
	case term.Kind == batchv1alpha1.AfterOK && !o.ok:
		return verdict{never: true, text: fmt.Sprintf("job %s ended without completing", o.name)}
	case term.Kind == batchv1alpha1.AfterNotOK && o.ok:
		return verdict{never: true, text: fmt.Sprintf("job %s has completed", o.name)}
	}
	return verdict{met: true}
}

// evaluateCorresponding opens the gate of an array as soon as one of its elements may start; Array.addCorresponding
// then decides about each element. If one of the jobs is not an array, it evaluates the dependency on the job as a
// whole.
func evaluateCorresponding(job *batchv1alpha1.Job, term batchv1alpha1.DependencyTerm, target *batchv1alpha1.Job) verdict {
	whole := evaluateEnd(batchv1alpha1.DependencyTerm{Kind: batchv1alpha1.AfterOK, Job: term.Job}, outcomeOfReference(target, term.Job))
	mine, _, ok := batchv1alpha1.ElementsOf(job)
	bothAreArrays := ok && target.Status.Array != nil && !term.Job.HasElement
	if !bothAreArrays || whole.met {
		return whole
	}
	succeeded, _ := batchv1alpha1.ParseIndices(target.Status.Array.Succeeded)
	if haveCommonIndex(mine, succeeded) {
		return verdict{met: true}
	}
	if whole.never {
		return verdict{never: true, text: fmt.Sprintf("job %s has not completed any of the corresponding tasks", describeJob(target))}
	}
	return verdict{text: fmt.Sprintf("job %s %s", describeJob(target), whenMet[batchv1alpha1.AfterCorr])}
}

// haveCommonIndex reports whether two sets have a number in common.
func haveCommonIndex(a, b batchv1alpha1.Indices) bool { return a.Minus(b).Count() < a.Count() }

// isHeldBeforeStart reports whether the job is pending and held, and none of its pods has a node. The pods of such a
// job are removed from the queue.
func (b *builder) isHeldBeforeStart() bool {
	return b.in.Job.Annotations[keys.Hold] != "" && b.currentPhase() == batchv1alpha1.Pending && !b.hasPlacedPods()
}

// hasPlacedPods reports whether a live pod has a node.
func (b *builder) hasPlacedPods() bool {
	return slices.ContainsFunc(b.census.members, func(m *member) bool { return m.isLivePod() && m.pod.Spec.NodeName != "" })
}

// isSubmitted reports whether the job has ever been in its queue, which means that it has run or has a PodGroup or
// pods.
func (b *builder) isSubmitted() bool {
	return HasEverStarted(b.in.Job) || b.in.PodGroup != nil || slices.ContainsFunc(b.census.members, (*member).isLivePod)
}

// evaluateJobGate returns the current gate of the job. Once a job has been in its queue, only a hold can keep it from
// starting. A hold has no effect while live pods of the job have nodes, because a hold never stops pods that may run.
func (b *builder) evaluateJobGate() gate {
	switch {
	case b.currentPhase() != batchv1alpha1.Pending || b.hasPlacedPods():
		return gate{}
	case b.isSubmitted():
		held := b.in.Job.DeepCopy()
		delete(held.Annotations, keys.Dependency)
		delete(held.Annotations, keys.Begin)
		return evaluateGate(held, nil, b.in.Now)
	}
	return evaluateGate(b.in.Job, b.in.Related, b.in.Now)
}

// isWaitingAtGate reports whether the job is pending and may not start yet.
func (b *builder) isWaitingAtGate() bool {
	g := b.evaluateJobGate()
	return !g.isGateOpen()
}

// terminateInvalid decides to terminate the job if its dependency can never be met and its annotations request
// termination in this case.
func (b *builder) terminateInvalid() (decision, bool) {
	if b.in.Job.Annotations[keys.KillOnInvalidDependency] != "true" {
		return nothing, false
	}
	if g := b.evaluateJobGate(); g.never {
		return decision{action: busv1alpha1.TerminateJobAction, why: g.text}, true
	}
	return nothing, false
}

// recordGateStatus stores the state of the gate in the status, and records an event if a closed gate has a new reason.
// It returns the closed gate as an obstacle, or nil if the gate is open.
func (b *builder) recordGateStatus(status *batchv1alpha1.JobStatus) *obstacle {
	g := b.evaluateJobGate()
	status.Gate = gateStatus(&g, b.knownResults(status.Gate), HasEverStarted(b.in.Job))
	if g.isGateOpen() {
		return nil
	}
	if !g.until.IsZero() {
		b.requestPlanAfter(g.until.Sub(b.in.Now))
	}
	if old := b.in.Job.Status.State; old.Reason != string(g.code) || old.Message != g.text {
		b.appendEvent(corev1.EventTypeNormal, string(g.code), "The job cannot start yet: %s", g.text)
	}
	return &obstacle{string(g.code), g.text}
}

// retractGroup deletes the PodGroup of a job that was held before its pods had nodes. This removes the job from its
// queue.
func (b *builder) retractGroup() {
	if group := b.in.PodGroup; group != nil && group.DeletionTimestamp == nil {
		b.appendWrites(DeleteGroup{Group: group})
	}
}

// knownResults returns the recorded results that apply to terms of the current dependency, which may have changed since
// they were recorded.
func (b *builder) knownResults(old *batchv1alpha1.JobGate) *batchv1alpha1.JobGate {
	d, err := batchv1alpha1.DependencyOf(b.in.Job)
	if old == nil || err != nil {
		return old
	}
	asked := func(terms []string) (kept []string) {
		for _, text := range terms {
			if slices.ContainsFunc(d.Terms, func(t batchv1alpha1.DependencyTerm) bool { return t.String() == text }) {
				kept = append(kept, text)
			}
		}
		return kept
	}
	return &batchv1alpha1.JobGate{Until: old.Until, Met: asked(old.Met), Failed: asked(old.Failed)}
}

// gateStatus returns the gate as part of a job status. Once a term is met, or can never be met, this is final until
// the job has run.
func gateStatus(g *gate, old *batchv1alpha1.JobGate, started bool) *batchv1alpha1.JobGate {
	if started {
		return nil
	}
	status := &batchv1alpha1.JobGate{Met: g.met, Failed: g.failed}
	if old != nil && len(g.met) == 0 {
		status.Met = old.Met
	}
	if old != nil && len(g.failed) == 0 {
		status.Failed = old.Failed
	}
	if !g.until.IsZero() {
		status.Until = &metav1.Time{Time: g.until}
	}
	if status.Until == nil && len(status.Met)+len(status.Failed) == 0 {
		return nil
	}
	return status
}

// awaitedAgain is how often to check whether other jobs are still waiting for a finished job whose time to live has
// passed.
const awaitedAgain = 10 * time.Second
