package scheduler

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

const (
	// countsEvery is the minimum time between two writes of a status if only its counts, or the numbers of pods in its
	// explanation, changed. numbersEvery is the minimum time if only other numbers in its explanation changed.
	countsEvery  = time.Second
	numbersEvery = time.Minute
	// patience is how long a gang may wait for its pods to be created, and a pod for its node, before this is
	// reported.
	patience = 900 * time.Millisecond
	// arrivalPatience is how long a gang that holds nothing may wait for its pods while pods of other gangs keep
	// arriving. While thousands of gangs are being created, its own pods may simply be created later than others.
	arrivalPatience = 10 * time.Second
)

// buildStatus returns the new status of the PodGroup. write reports whether it differs enough to be written. again is
// when to check again even if nothing changes.
func (e *Engine) buildStatus(s *cycle.Cycle, j *framework.Job) (status schedulingv1beta1.PodGroupStatus, write bool, again time.Time) {
	status = schedulingv1beta1.PodGroupStatus{
		Phase:     computePhase(j),
		Running:   int32(j.Count[model.Running]),
		Succeeded: int32(j.Count[model.Succeeded]),
		Failed:    int32(j.Count[model.Failed]),
	}
	verdict, again := e.verdictToReport(s, j)
	old := &j.Status
	reported, stale := e.explanationOf(s, j, verdict)
	status.Explanation = reported
	status.Conditions = updateConditions(s, j, status.Phase, verdict, reported != nil && reported == old.Explanation)
	if !again.IsZero() { // too early to report; an earlier report of missing pods stays
		status.Explanation, status.Conditions = nil, old.Conditions
		if e := old.Explanation; e != nil && e.Reason == string(reason.NotEnoughPods) {
			status.Explanation = e
		}
	} else if !stale.IsZero() {
		again = stale
	}
	if status.Phase != old.Phase || !sameReport(&status, old) {
		return status, true, again
	}
	if model.HasSameCounts(&status, old) {
		rewriteAt, isUnconfirmed := j.RewriteTime()
		switch {
		case j.HasUnwrittenStatus():
			return status, true, again
		case !isUnconfirmed:
			return status, false, again
		case s.Now.Before(rewriteAt):
			return status, false, earlierTime(again, rewriteAt)
		}
		return status, true, again
	}
	if !j.StatusAt.IsZero() && s.Now.Sub(j.StatusAt) < countsEvery {
		return status, false, earlierTime(again, j.StatusAt.Add(countsEvery))
	}
	return status, true, again
}

func earlierTime(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// sameReport reports whether two statuses have equal conditions and explanations. Most gangs have neither, so that case
// must cost nothing.
func sameReport(a, b *schedulingv1beta1.PodGroupStatus) bool {
	if len(a.Conditions)+len(b.Conditions) > 0 && !sharesMemory(a.Conditions, b.Conditions) && !equality.Semantic.DeepEqual(a.Conditions, b.Conditions) {
		return false
	}
	return a.Explanation == b.Explanation || equality.Semantic.DeepEqual(a.Explanation, b.Explanation)
}

// sharesMemory reports whether two lists share the same memory.
func sharesMemory[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// verdictToReport returns the job's verdict. If it is too early to report it, because pods are still being created, it
// returns an empty verdict and the time at which to report it.
func (e *Engine) verdictToReport(s *cycle.Cycle, j *framework.Job) (explain.Verdict, time.Time) {
	kind := string(j.Verdict.Code)
	if kind != j.SinceFor {
		j.SinceFor, j.Since, j.Attempts = kind, s.Now, max(min(j.Attempts, 1), 0)
	}
	if j.Verdict.Code != reason.NotEnoughPods {
		return j.Verdict, time.Time{}
	}
	if stillHasMinimum(j) { // pods that are being deleted are still running, so no pod is missing yet
		return explain.Verdict{}, time.Time{}
	}
	if exist := j.Verdict.Members.Exist; exist != j.SinceExist || j.SinceExistAt.Before(j.Since) {
		j.SinceExist, j.SinceExistAt = exist, s.Now
	}
	if ripe := e.missingPodsReportTime(j); s.Now.Before(ripe) { // pods are still being created
		return explain.Verdict{}, ripe
	}
	return j.Verdict, time.Time{}
}

// stillHasMinimum reports whether the gang has its minimum, in total and per role, if its pods that are being deleted
// but are still on their nodes are counted. It returns false if there are no such pods.
func stillHasMinimum(j *framework.Job) bool {
	leaving, roles := 0, map[string]int{}
	for _, t := range j.Tasks {
		if t.Status.IsLeaving() && t.Node != model.NoNode {
			leaving++
			roles[t.Role]++
		}
	}
	if leaving == 0 || j.Gang.CountReady()+leaving < j.MinMember {
		return false
	}
	for role, lacks := range j.RoleNeeds() {
		if lacks > roles[role] {
			return false
		}
	}
	return true
}

// missingPodsReportTime returns when a gang's missing pods are reported.
func (e *Engine) missingPodsReportTime(j *framework.Job) time.Time {
	stopped := j.SinceExistAt
	if j.ReadyTasks() == 0 && e.gangs.arrived.After(stopped) {
		stopped = e.gangs.arrived
		if longest := j.Since.Add(arrivalPatience - patience); stopped.After(longest) {
			stopped = longest
		}
		if stopped.Before(j.SinceExistAt) {
			stopped = j.SinceExistAt
		}
	}
	return stopped.Add(patience)
}

// computePhase returns the phase according to the state of the pods in the API. It ignores decisions that have not been
// carried out yet.
func computePhase(j *framework.Job) schedulingv1beta1.PodGroupPhase {
	ended := j.Count[model.Succeeded] + j.Count[model.Failed]
	scheduled := j.Count[model.Bound] + j.Count[model.Running] + ended
	for _, t := range j.Tasks {
		switch {
		case t.Killed: // the pod is still being deleted, and its end does not complete the gang
			ended--
		case t.Status.IsLeaving() && t.Node != model.NoNode:
			scheduled++
		}
	}
	waits := j.Verdict.Code != "" && j.Need() > 0 && !stillHasMinimum(j)
	isPlaced := scheduled > 0 && scheduled >= j.MinMember
	switch {
	case j.Phase == schedulingv1beta1.PodGroupCompleted && len(j.Tasks) == 0:
		return schedulingv1beta1.PodGroupCompleted
	case j.Count[model.Running] > 0 && waits:
		return schedulingv1beta1.PodGroupUnknown
	case isPlaced && ended == scheduled && ended == len(j.Tasks):
		return schedulingv1beta1.PodGroupCompleted
	case isPlaced:
		return schedulingv1beta1.PodGroupRunning
	case j.Phase == schedulingv1beta1.PodGroupInqueue, j.IsAdmitted() && j.MinMember > 0 && j.IsSatisfied():
		return schedulingv1beta1.PodGroupInqueue
	case j.Phase == schedulingv1beta1.PodGroupUnknown && j.Count[model.Running] > 0:
		return schedulingv1beta1.PodGroupUnknown
	}
	return schedulingv1beta1.PodGroupPending
}

// updateConditions updates the two conditions, of which at most one is True. A condition that stays True keeps its
// transition time and ID. If kept is true, the explanation is kept, so the condition also keeps its message.
func updateConditions(s *cycle.Cycle, j *framework.Job, phase schedulingv1beta1.PodGroupPhase, v explain.Verdict, kept bool) []schedulingv1beta1.PodGroupCondition {
	old := j.Status.Conditions
	started := phase == schedulingv1beta1.PodGroupRunning || phase == schedulingv1beta1.PodGroupCompleted
	switch {
	case started:
		return setCondition(s, j, old, schedulingv1beta1.PodGroupCondition{
			Type: schedulingv1beta1.PodGroupScheduledType, Reason: schedulingv1beta1.PodGroupReadyReason,
		}, kept)
	case v.Code != "" && !j.IsSatisfied():
		if kept && isOnlyUnschedulable(old, conditionReason(v)) {
			return old
		}
		return setCondition(s, j, old, schedulingv1beta1.PodGroupCondition{
			Type: schedulingv1beta1.PodGroupUnschedulableType, Reason: conditionReason(v), Message: explain.ConditionMessage(&v),
		}, kept)
	}
	return old
}

// isOnlyUnschedulable reports whether the conditions state exactly once, with the given reason, that the gang is
// unschedulable, and do not state that it is scheduled.
func isOnlyUnschedulable(conditions []schedulingv1beta1.PodGroupCondition, reason string) bool {
	recorded := 0
	for i := range conditions {
		switch c := &conditions[i]; {
		case c.Type == schedulingv1beta1.PodGroupUnschedulableType:
			if c.Status != corev1.ConditionTrue || c.Reason != reason {
				return false
			}
			recorded++
		case c.Type == schedulingv1beta1.PodGroupScheduledType && c.Status == corev1.ConditionTrue:
			return false
		}
	}
	return recorded == 1
}

// conditionReason returns the reason that Volcano uses for a verdict.
func conditionReason(v explain.Verdict) string {
	switch {
	case v.Code == reason.NotEnoughPods && (v.Role != "" || v.SubGroup != ""):
		return schedulingv1beta1.NotEnoughPodsOfTaskReason
	case v.Code == reason.NotEnoughPods:
		return schedulingv1beta1.NotEnoughPodsReason
	}
	return schedulingv1beta1.NotEnoughResourcesReason
}

// setCondition sets condition c to True and the scheduler's other conditions to False.
func setCondition(s *cycle.Cycle, j *framework.Job, old []schedulingv1beta1.PodGroupCondition, c schedulingv1beta1.PodGroupCondition, kept bool) []schedulingv1beta1.PodGroupCondition {
	c.Status = corev1.ConditionTrue
	c.LastTransitionTime = metav1.NewTime(s.Now)
	c.TransitionID = transitionID(j, s.Now, string(c.Type))
	out := make([]schedulingv1beta1.PodGroupCondition, 0, len(old)+1)
	found := false
	for _, o := range old {
		switch {
		case o.Type == c.Type && found:
			continue // drop duplicates of a type
		case o.Type == c.Type:
			found = true
			if o.Status == corev1.ConditionTrue {
				c.LastTransitionTime, c.TransitionID = o.LastTransitionTime, o.TransitionID
				if o.Reason == c.Reason && kept && c.Type == schedulingv1beta1.PodGroupUnschedulableType {
					c.Message = o.Message
				}
			}
			out = append(out, c)
		case o.Status == corev1.ConditionTrue && (o.Type == schedulingv1beta1.PodGroupScheduledType || o.Type == schedulingv1beta1.PodGroupUnschedulableType):
			o.Status, o.Message = corev1.ConditionFalse, "no longer true"
			o.LastTransitionTime = metav1.NewTime(s.Now)
			out = append(out, o)
		default:
			out = append(out, o)
		}
	}
	if !found {
		out = append(out, c)
	}
	return out
}

// transitionID returns an ID in the form of a UID. It is the same for the same gang, time and kind.
func transitionID(j *framework.Job, now time.Time, kind string) string {
	sum := sha256.Sum256([]byte(string(j.UID) + "\x00" + now.UTC().Format(time.RFC3339Nano) + "\x00" + kind))
	h := hex.EncodeToString(sum[:16])
	return fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
}
