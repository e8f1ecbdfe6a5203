package jobstatus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/render"
)

// The values of Report.Source, as shown by -o json.
const (
	byScheduler  = "scheduler"
	byOthers     = "conditions and events"
	byController = "job"
	byPods       = "pods"
)

// Report holds everything that `job explain` shows about one job.
type Report struct {
	Sheet
	Why Why
	// Source is the origin of the reason: scheduler, conditions and events, job, or pods.
	Source string
	// Zone is the time zone of the times shown; nil means UTC, which is unambiguous everywhere.
	Zone *time.Location
}

// NewReport returns the report about a job. The scheduler's explanation comes first, then problems of pods that have a
// node, then conditions.
func NewReport(s *Sheet) *Report {
	r := &Report{Sheet: *s, Why: s.FindWaitReason(), Source: byController}
	switch {
	case r.Why.Explained:
		r.Source = byScheduler
	case s.Group != nil && IsActivePhase(PhaseOrPending(s.Job)) && !r.Why.Controller:
		r.Source = byOthers
	}
	if IsActivePhase(PhaseOrPending(s.Job)) {
		var gave bool
		if r.Why, gave = r.Why.ReplaceByTrouble(TroublesOfPods(s.Pods, s.Events), s.Job.Name); gave {
			r.Source = byPods
		}
	}
	return r
}

// NewReportWithoutPods returns the report about a job without using pods and events. enough reports whether pods and
// events would add nothing, because the scheduler explains the wait, or because the job has ended without failing.
// Callers can use it to avoid reading pods and events.
func NewReportWithoutPods(s *Sheet) (r *Report, enough bool) {
	r = NewReport(&Sheet{Job: s.Job, Group: s.Group, Unreadable: s.Unreadable})
	phase := PhaseOrPending(s.Job)
	return r, r.Explanation() != nil || !(IsActivePhase(phase) || phase == batchv1alpha1.Failed)
}

// IsWaitingJob reports whether the job is neither running nor finished.
func (r *Report) IsWaitingJob() bool {
	phase := PhaseOrPending(r.Job)
	switch phase {
	case batchv1alpha1.Running, batchv1alpha1.Completing, batchv1alpha1.Terminating:
		return false
	}
	return !IsFinishedPhase(phase)
}

// Explanation returns the scheduler's explanation, or nil if there is no valid one.
func (r *Report) Explanation() *schedulingv1beta1.Explanation {
	if !r.Why.Explained || r.Group == nil {
		return nil
	}
	return r.Group.Status.Explanation
}

// Headline returns the name, phase, reason and duration, for example "nlp/train is Pending: GangDoesNotFit (18m)".
func (r *Report) Headline(style render.Style, now time.Time) string {
	text := fmt.Sprintf("%s/%s is %s", r.Job.Namespace, r.Job.Name, style.PaintPhase(string(PhaseOrPending(r.Job))))
	if r.Why.Code != "" {
		text += ": " + r.Why.Code
	}
	return text + " (" + render.FormatAgeSince(now, r.Since()) + ")"
}

// Since returns the time when the job entered its current state.
func (r *Report) Since() time.Time {
	if e := r.Explanation(); e != nil && e.Since != nil {
		return e.Since.Time
	}
	if at := EnteredPhase(r.Job, PhaseOrPending(r.Job)); !at.IsZero() {
		return at
	}
	return r.Job.CreationTimestamp.Time
}

// Facts returns the numbers behind the reason, one line each.
func (r *Report) Facts() []Fact {
	var facts []Fact
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, Fact{name, text})
		}
	}
	if r.IsWaitingJob() {
		add("needs", DescribeRequest(r.Job))
	}
	add("evictions", EvictionsText(r.Job, r.Zone))
	e := r.Explanation()
	if e == nil {
		return append(facts, r.otherFacts()...)
	}
	add("pods", formatMembers(e.Members))
	if e.Queue != nil {
		facts = append(facts, queueFacts(e.Queue)...)
	}
	for _, s := range e.Short {
		add("short", shortageText(s))
	}
	add("nodes", nodesText(e))
	add("evict", sparedText(e.Spared))
	add("evicted", e.EvictedBy)
	add("start", startText(e, r.Zone))
	add("tried", triedText(e, r.Zone))
	return facts
}

// DescribeRequest describes what a job requests: its tasks, and how many pods must start together.
func DescribeRequest(job *batchv1alpha1.Job) string {
	var parts []string
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		requests := corev1.ResourceList{}
		for _, container := range task.Template.Spec.Containers {
			AddRequests(requests, container.Resources)
		}
		parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%s x %s", textformat.CountWithNoun(int(task.Replicas), "pod"), ResourceText(requests)), " x "))
	}
	all, least := CountReplicas(job), MinimumPods(job)
	together := fmt.Sprintf("%d of %d pods must start together", least, all)
	switch {
	case least >= all && all > 1:
		together = fmt.Sprintf("all %d or none", all)
	case least <= 1:
		together = "each starts independently"
	}
	if all == 1 {
		return strings.Join(parts, " + ")
	}
	return strings.Join(parts, " + ") + "; " + together
}

func formatMembers(m *schedulingv1beta1.ExplainedMembers) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%d must start together; %d exist, %d have a node, %d fit now", m.Min, m.Exist, m.Running, m.Fit)
}

// queueFacts describes the job's queue, the queues above it, and the job's position in its queue.
func queueFacts(q *schedulingv1beta1.ExplainedQueue) []Fact {
	facts := []Fact{{"queue", q.Name + queueStanding(q.Allocated, q.Deserved, q.Guarantee, q.Capability)}}
	for _, level := range slices.Backward(q.Path) {
		if text := queueStanding(level.Allocated, level.Deserved, level.Guarantee, level.Capability); text != "" {
			facts = append(facts, Fact{"parent", level.Name + text})
		}
	}
	switch {
	case q.Position > 0 && q.Waiting > 0:
		facts = append(facts, Fact{"order", fmt.Sprintf("position %d of %d in the queue", q.Position, q.Waiting)})
	case q.Position > 0:
		facts = append(facts, Fact{"order", fmt.Sprintf("position %d in the queue", q.Position)})
	}
	return facts
}

func shortageText(s schedulingv1beta1.Shortage) string {
	where := "the " + textOrElse(s.Scope, "cluster")
	if s.Of != "" {
		where = s.Scope + " " + s.Of
	}
	text := fmt.Sprintf("%s: short by %s in %s (requested %s", s.Resource, s.ShortBy, where, s.Asked)
	if s.Available != "" {
		text += ", available " + s.Available
	}
	return text + ")"
}

func nodesText(e *schedulingv1beta1.Explanation) string {
	if len(e.Nodes) == 0 {
		return ""
	}
	return strings.TrimPrefix(nodeTally(e), "nodes: ")
}

// sparedText explains why no pods are evicted for the job.
func sparedText(spared []schedulingv1beta1.ExplainedSpared) string {
	var parts []string
	for _, s := range spared {
		text := reason.Get(reason.Code(s.Reason)).Sentence
		if s.Detail != "" {
			text += " (" + s.Detail + ")"
		}
		if s.Pods > 0 {
			text = textformat.CountWithNoun(int(s.Pods), "pod") + ": " + text
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "no pod can be evicted; " + strings.Join(parts, "; ")
}

func startText(e *schedulingv1beta1.Explanation, zone *time.Location) string {
	switch {
	case e.Never:
		return "it cannot start with its current request"
	case e.EstimatedStart != nil:
		return strings.TrimSuffix(fmt.Sprintf("%s, %s", formatTime(e.EstimatedStart.Time, zone), e.Estimate), ", ")
	}
	return e.Estimate
}

// formatTime formats a time with its zone; a nil zone means UTC.
func formatTime(at time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	return at.In(zone).Format(time.RFC3339)
}

// timesText returns "once" or "N times".
func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// triedText returns how often and when the scheduler tried to place the gang.
func triedText(e *schedulingv1beta1.Explanation, zone *time.Location) string {
	if e.Attempts == 0 {
		return ""
	}
	text := timesText(int(e.Attempts))
	if e.LastAttempt == nil {
		return text
	}
	at := formatTime(e.LastAttempt.Time, zone)
	if e.Attempts == 1 {
		return text + " at " + at
	}
	return text + ", last at " + at
}

// otherFacts returns facts from conditions, pods and events, for a job that the scheduler has not explained.
func (r *Report) otherFacts() []Fact {
	var facts []Fact
	if !IsActivePhase(PhaseOrPending(r.Job)) {
		for _, line := range ListFailures(r.Job, r.Pods) {
			facts = append(facts, Fact{"failed", line})
		}
		return facts
	}
	for _, line := range TroubleLines(r.Job, TroublesOfPods(r.Pods, r.Events)) {
		facts = append(facts, Fact{"pods", line})
	}
	for _, line := range countUnscheduled(r.Pods) {
		facts = append(facts, Fact{"pods", line})
	}
	for _, line := range r.latestWarnings() {
		facts = append(facts, Fact{"event", line})
	}
	if r.IsWaitingJob() && r.Unreadable {
		facts = append(facts, Fact{"source", "the scheduler's explanation is not shown, because you are not allowed to read pod groups in this namespace"})
	}
	if r.IsWaitingJob() && !r.hasAllNodes() && r.Source == byOthers {
		facts = append(facts, Fact{"source", fmt.Sprintf("scheduler %q provided no explanation; this information comes from conditions and events",
			textOrElse(r.Job.Spec.SchedulerName, keys.DefaultSchedulerName))})
	}
	return facts
}

// countUnscheduled counts the pods without a node by the message of their condition.
func countUnscheduled(pods []*corev1.Pod) []string {
	count := map[string]int{}
	for _, pod := range pods {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && pod.Spec.NodeName == "" {
				count[strings.TrimPrefix(condition.Reason+": "+OneLine(condition.Message), ": ")]++
			}
		}
	}
	var lines []string
	for _, text := range slices.Sorted(maps.Keys(count)) {
		lines = append(lines, fmt.Sprintf("%d without a node: %s", count[text], text))
	}
	return lines
}

// maxWarnings is the maximum number of different warnings shown.
const maxWarnings = 5

// hasAllNodes reports whether all pods have nodes, in which case earlier warnings from the scheduler are obsolete.
func (r *Report) hasAllNodes() bool {
	return !r.IsWaitingJob() || (r.Group != nil && r.Group.Status.Phase == schedulingv1beta1.PodGroupRunning)
}

// latestWarnings returns the latest warnings about the job, its PodGroup and its pods, without duplicates.
func (r *Report) latestWarnings() []string {
	var lines []string
	seen := map[string]bool{}
	for i := range slices.Backward(r.Events) {
		event := &r.Events[i]
		if event.Type != corev1.EventTypeWarning || len(lines) == maxWarnings {
			continue
		}
		text := event.Reason + ": " + OneLine(event.Message)
		isOutdated := fromScheduler[event.Reason] && r.hasAllNodes()
		if isOutdated || seen[text] {
			continue
		}
		seen[text] = true
		lines = append(lines, r.ObjectOf(event)+" "+text)
	}
	return lines
}

// ToUnstructured returns the report as an object for machine-readable output.
func (r *Report) ToUnstructured() (*unstructured.Unstructured, error) {
	content := map[string]any{
		"apiVersion": "insight.vc-batch.dev/v1alpha1", "kind": "Explanation",
		"metadata": map[string]any{"name": r.Job.Name, "namespace": r.Job.Namespace},
		"phase":    string(PhaseOrPending(r.Job)), "waits": r.IsWaitingJob(), "source": r.Source,
		"since": r.Since().UTC().Format(time.RFC3339),
	}
	for name, text := range map[string]string{"reason": r.Why.Code, "message": r.Why.Message, "hint": r.Why.Hint} {
		if text != "" {
			content[name] = text
		}
	}
	if e := r.Explanation(); e != nil {
		plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(e)
		if err != nil {
			return nil, err
		}
		content["explanation"] = plain
	} else if facts := r.Facts(); len(facts) > 0 {
		var lines []any
		for _, f := range facts {
			lines = append(lines, f.Name+": "+f.Text)
		}
		content["facts"] = lines
	}
	return &unstructured.Unstructured{Object: content}, nil
}
