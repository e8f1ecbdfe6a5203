package jobstatus

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
)

// Why is the reason why a job as a whole is not running.
type Why struct {
	// Code is one word; see api/reason.
	Code string
	// Message is a sentence for the user; Hint suggests what the user can do.
	Message, Hint string
	// Numbers holds lines with the scheduler's counts.
	Numbers []string
	// Helps describes simulated changes that would let the job start.
	Helps []string
	// Explained is true if the reason is the scheduler's own explanation, and Controller if it comes from the job
	// controller.
	Explained, Controller bool
}

// CodeAndMessage returns the code and the message as text for a table column.
func (w Why) CodeAndMessage() string {
	switch {
	case w.Message == "":
		return w.Code
	case w.Code == "" || strings.HasPrefix(w.Message, w.Code):
		return w.Message
	}
	return w.Code + ": " + w.Message
}

// ExplainJob returns the reason why a job is not running. The reason comes from the scheduler's explanation, otherwise
// from the conditions that schedulers compatible with Volcano write, otherwise from the controller's message. It is
// empty if the job is running or has completed.
func ExplainJob(job *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup) Why {
	phase := PhaseOrPending(job)
	switch {
	case phase == batchv1alpha1.Aborted:
		return newReason(reason.Suspended, job, "")
	case phase == batchv1alpha1.Completed:
		return failedElements(job)
	case IsFinishedPhase(phase) && job.Status.Failure != nil: // the state names only the action that answered the failure
		return Why{Code: job.Status.Failure.Reason, Message: OneLine(job.Status.Failure.Message)}
	case IsFinishedPhase(phase):
		return Why{Code: job.Status.State.Reason, Message: StateMessage(job)}
	case group == nil && phase == batchv1alpha1.Pending && job.Status.State.Reason != "":
		return Why{Code: job.Status.State.Reason, Message: StateMessage(job), Hint: hintForStatus(job)}
	case group == nil && phase == batchv1alpha1.Pending:
		return newReason(reason.NoPodGroup, job, StateMessage(job))
	case group == nil && phase == batchv1alpha1.Running && job.Status.State.Message == "":
		return explainNoRunningPods(job)
	case group == nil:
		return Why{Code: job.Status.State.Reason, Message: StateMessage(job)}
	}
	if e := group.Status.Explanation; e != nil && e.Reason != "" {
		if w := reasonFromController(job); e.Reason == string(reason.NotEnoughPods) && w.Message != "" {
			return w
		}
		return reasonFromExplanation(e)
	}
	if phase == batchv1alpha1.Running {
		return explainNoRunningPods(job)
	}
	if w, found := reasonFromConditions(group); found {
		return w
	}
	if isUnseenGroup(group) {
		return newReason(reason.Submitted, job, fmt.Sprintf("scheduler %q has not processed the job yet", textOrElse(job.Spec.SchedulerName, "volcano")))
	}
	return reasonFromPhases(job, group)
}

// failedElements lists the failed elements of a completed array. The result is empty if no element failed.
func failedElements(job *batchv1alpha1.Job) Why {
	states := job.Status.Array
	if states == nil || states.Failed == "" {
		return Why{}
	}
	elements := "array task"
	if set, err := batchv1alpha1.ParseIndices(states.Failed); err == nil && set.Count() > 1 {
		elements = "array tasks"
	}
	return newReason(reason.PodFailed, job, fmt.Sprintf("%s %s failed%s", elements, truncateElements(states.Failed), exitCodes(states)))
}

// explainNoRunningPods returns the reason why a Running job has no running pods, derived from the states of its pods.
// The result is empty for any other job.
func explainNoRunningPods(job *batchv1alpha1.Job) Why {
	s := &job.Status
	if s.Running+s.Succeeded > 0 {
		return Why{}
	}
	var parts []string
	for _, part := range []struct {
		n    int32
		what string
	}{{s.Pending, "pending"}, {s.Terminating, "being deleted"}, {s.Failed, "failed"}, {s.Unknown, "unknown"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(parts) == 0 {
		return explainNoCountedPods(job)
	}
	return newReason(reason.NoPodRuns, job, fmt.Sprintf("the job has started, but none of its %s is running: %s", textformat.CountWithNoun(int(CountReplicas(job)), "pod"), strings.Join(parts, ", ")))
}

// explainNoCountedPods returns the reason why a Running job has no running pods if its status does not count any pods.
func explainNoCountedPods(job *batchv1alpha1.Job) Why {
	if CountReplicas(job) == 0 {
		return Why{Code: string(reason.NoPodRuns), Message: "the job has no pods: all its tasks have 0 replicas", Hint: "vcctl job scale " + job.Name + " --replicas N adds pods"}
	}
	if job.Status.State.Message != "" {
		return reasonFromController(job)
	}
	pods := "the job's pod does not exist: it has not been created yet or was deleted"
	if n := CountReplicas(job); n > 1 {
		pods = fmt.Sprintf("none of the job's %d pods exists: they have not been created yet or were deleted", n)
	}
	return Why{Code: string(reason.NoPodRuns), Message: "the job has started, but " + pods,
		Hint: "vcctl events job/" + job.Name + " shows the pods' events; if the problem persists, check that the controller is running (vcd controllers)"}
}

// countsNoPods reports whether the status of a Running job does not count any pods.
func countsNoPods(job *batchv1alpha1.Job) bool {
	s := &job.Status
	return PhaseOrPending(job) == batchv1alpha1.Running && s.Pending+s.Running+s.Succeeded+s.Failed+s.Terminating+s.Unknown == 0
}

// hintForStatus returns the hint for the reason in the job's status, with the job's name filled into the hint's
// commands.
func hintForStatus(job *batchv1alpha1.Job) string {
	return hintForReason(reason.Code(job.Status.State.Reason), job)
}

// newReason returns a reason and its hint for a job. If message is empty, the reason's standard sentence is used.
func newReason(code reason.Code, job *batchv1alpha1.Job, message string) Why {
	return Why{Code: string(code), Message: textOrElse(message, reason.Get(code).Sentence), Hint: hintForReason(code, job)}
}

// hintForReason returns the hint for a reason, with the names of the job and its queue filled into the hint's commands.
func hintForReason(code reason.Code, job *batchv1alpha1.Job) string {
	return strings.NewReplacer("NAME", job.Name, "QUEUE", job.Spec.Queue).Replace(reason.Get(code).Hint)
}

// isUnseenGroup reports whether no scheduler has written anything to the status of a PodGroup.
func isUnseenGroup(group *schedulingv1beta1.PodGroup) bool {
	waits := group.Status.Phase == "" || group.Status.Phase == schedulingv1beta1.PodGroupPending
	return waits && len(group.Status.Conditions) == 0
}

// reasonFromController returns the controller's reason for not creating pods. It is more precise than the scheduler's
// reason, which is only that pods are missing.
func reasonFromController(job *batchv1alpha1.Job) Why {
	w := Why{Code: job.Status.State.Reason, Message: OneLine(StateMessage(job)), Controller: true}
	if w.Hint = reason.Get(reason.Code(w.Code)).Hint; w.Hint == "" && strings.Contains(w.Message, "no PriorityClass with name") {
		w.Hint = "create the PriorityClass, or specify an existing PriorityClass; list them with: kubectl get priorityclasses"
	}
	return w
}

// reasonFromPhases derives a reason from the phases if there is no better one.
func reasonFromPhases(job *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup) Why {
	if job.Status.State.Message != "" || PhaseOrPending(job) != batchv1alpha1.Pending {
		return Why{Code: job.Status.State.Reason, Message: StateMessage(job)}
	}
	switch group.Status.Phase {
	case schedulingv1beta1.PodGroupInqueue:
		return newReason(reason.Starting, job, "the gang is admitted to its queue; its pods are being created and placed")
	case schedulingv1beta1.PodGroupRunning:
		return newReason(reason.Starting, job, "")
	}
	return Why{}
}

func reasonFromExplanation(e *schedulingv1beta1.Explanation) Why {
	entry := reason.Get(reason.Code(e.Reason))
	var helps []string
	for _, h := range e.Helps {
		helps = append(helps, h.Text)
	}
	return Why{
		Helps:   helps,
		Code:    e.Reason,
		Message: textOrElse(e.Message, entry.Sentence),
		Hint:    textOrElse(e.Hint, entry.Hint),
		Numbers: listNumbers(e), Explained: true,
	}
}

// listNumbers returns the counts of an explanation, one fact per line.
func listNumbers(e *schedulingv1beta1.Explanation) []string {
	var lines []string
	if m := e.Members; m != nil {
		lines = append(lines, fmt.Sprintf("needs %s at the same time; %d exist, %d have a node, %d fit now", textformat.CountWithNoun(int(m.Min), "pod"), m.Exist, m.Running, m.Fit))
	}
	lines = append(lines, queueLines(e.Queue)...)
	for _, s := range e.Short {
		lines = append(lines, shortageText(s))
	}
	if len(e.Nodes) > 0 {
		lines = append(lines, nodeTally(e))
	}
	return append(lines, startLines(e)...)
}

// queueLines describes the job's position in its queue, that queue, and the queues above it.
func queueLines(q *schedulingv1beta1.ExplainedQueue) []string {
	if q == nil {
		return nil
	}
	line := "queue " + q.Name
	switch {
	case q.Position > 0 && q.Waiting > 0:
		line += fmt.Sprintf(", position %d of %d", q.Position, q.Waiting)
	case q.Position > 0:
		line += fmt.Sprintf(", position %d", q.Position)
	}
	lines := []string{line + queueStanding(q.Allocated, q.Deserved, q.Guarantee, q.Capability)}
	for _, level := range slices.Backward(q.Path) {
		if text := queueStanding(level.Allocated, level.Deserved, level.Guarantee, level.Capability); text != "" {
			lines = append(lines, "parent queue "+level.Name+text)
		}
	}
	return lines
}

func queueStanding(allocated, deserved, guarantee, capability corev1.ResourceList) string {
	text := ""
	for _, part := range []struct {
		name string
		list corev1.ResourceList
	}{{"allocated", allocated}, {"deserved", deserved}, {"guarantee", guarantee}, {"capability", capability}} {
		if len(part.list) > 0 {
			text += "; " + part.name + " " + ResourceText(part.list)
		}
	}
	return text
}

// startLines describes when the job will start and how often the scheduler has tried to start it.
func startLines(e *schedulingv1beta1.Explanation) []string {
	var lines []string
	switch {
	case e.Never:
		lines = append(lines, "it cannot start with its current request")
	case e.EstimatedStart != nil:
		lines = append(lines, fmt.Sprintf("estimated start: %s, %s", e.EstimatedStart.UTC().Format(time.RFC3339), e.Estimate))
	case e.Estimate != "":
		lines = append(lines, "estimated start "+e.Estimate)
	}
	if e.Since != nil {
		line := "waiting for this reason since " + e.Since.UTC().Format(time.RFC3339)
		if e.Attempts > 0 {
			line += ", tried " + triedText(e, nil)
		}
		lines = append(lines, line)
	}
	return lines
}

func nodeTally(e *schedulingv1beta1.Explanation) string {
	var parts []string
	for _, n := range e.Nodes {
		part := fmt.Sprintf("%d %s", n.Count, n.Reason)
		if n.Detail != "" {
			part += " " + n.Detail
		}
		if n.ShortBy != "" {
			part += " (short by " + n.ShortBy + ")"
		}
		parts = append(parts, part)
	}
	if e.NodeCount > 0 {
		return fmt.Sprintf("of %s: %s", textformat.CountWithNoun(int(e.NodeCount), "node"), strings.Join(parts, "; "))
	}
	return "nodes: " + strings.Join(parts, "; ")
}

// reasonFromConditions returns the reason from the conditions that are written by schedulers without explanations.
func reasonFromConditions(group *schedulingv1beta1.PodGroup) (Why, bool) {
	for _, condition := range slices.Backward(group.Status.Conditions) {
		if condition.Type == schedulingv1beta1.PodGroupUnschedulableType && condition.Status == corev1.ConditionTrue {
			return Why{Code: condition.Reason, Message: condition.Message}, true
		}
	}
	return Why{}, false
}

// ResourceText formats resources in a fixed order: cpu, memory, others by name.
func ResourceText(list corev1.ResourceList) string {
	var names []string
	for name := range list {
		names = append(names, string(name))
	}
	rank := map[string]string{"cpu": "0", "memory": "1"}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(textOrElse(rank[a], "2"+a), textOrElse(rank[b], "2"+b))
	})
	parts := make([]string, len(names))
	for i, name := range names {
		amount := list[corev1.ResourceName(name)]
		parts[i] = name + " " + amount.String()
	}
	return strings.Join(parts, ", ")
}

func textOrElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}
