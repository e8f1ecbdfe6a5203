package scheduler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// reasonIgnored is the reason in the event about annotations that have no effect.
const reasonIgnored = "AnnotationIgnored"

// reasonCapped is the reason in the event about a PodGroup whose priority class is not used.
const reasonCapped = "PriorityClassNotCounted"

// reportCappedPriority records once that the priority class of a PodGroup counts only up to the priority of its pods.
func reportCappedPriority(s *cycle.Cycle, j *framework.Job) {
	if j.Capped == j.CapReported {
		return
	}
	if j.CapReported = j.Capped; !j.Capped {
		return
	}
	s.Out.Events = append(s.Out.Events, decision.Event{
		Gang: gangObject(j.Gang), Type: corev1.EventTypeWarning, Reason: reasonCapped,
		Message: fmt.Sprintf("the pods' priority %d is used instead of the PodGroup's priority class %s, because this class is a system class or is limited by a ResourceQuota, and not every pod has this class; also set priorityClassName in the pods",
			j.Priority, j.PriorityClass),
	})
}

// reportIgnoredAnnotations records once, when the gang's pods exist, which annotations of the gang and its pods have no
// effect.
func reportIgnoredAnnotations(s *cycle.Cycle, j *framework.Job) {
	if j.RemarkedAt == j.Spec || len(j.Tasks) < max(j.MinMember, 1) {
		return
	}
	j.RemarkedAt = j.Spec
	var texts []string
	if text, given := j.Annotations[keys.RunningEstimate]; given {
		if d, err := time.ParseDuration(text); err != nil || d <= 0 {
			texts = append(texts, fmt.Sprintf("%s: must be a duration such as 30m, not %q; the run time is treated as unknown", keys.RunningEstimate, text))
		}
	}
	texts = append(texts, unreadableAnnotations(j)...)
	for _, f := range s.Rules.Remarks {
		texts = append(texts, f(j)...)
	}
	slices.Sort(texts)
	text := strings.Join(slices.Compact(texts), "; ")
	if text == j.Remarked {
		return
	}
	if j.Remarked = text; text != "" {
		s.Out.Events = append(s.Out.Events, decision.Event{Gang: gangObject(j.Gang), Type: corev1.EventTypeWarning, Reason: reasonIgnored, Message: text})
	}
}

// unreadableAnnotations returns warnings for invalid annotations about preemption and task priority.
func unreadableAnnotations(j *framework.Job) (texts []string) {
	flag := func(text string) {
		if text == "" { // most pods do not have it, so they must not cost any parsing
			return
		}
		if _, err := strconv.ParseBool(text); err != nil {
			texts = append(texts, fmt.Sprintf("%s: must be true or false, not %q; false is used", keys.Preemptable, text))
		}
	}
	flag(j.Preemptable)
	for _, t := range j.Tasks {
		text, annotated := t.Annotations[keys.Preemptable]
		if !annotated {
			text = t.Labels[keys.Preemptable]
		}
		flag(text)
		if text, given := t.Annotations[keys.TaskPriority]; given {
			if _, err := strconv.ParseInt(text, 10, 32); err != nil {
				texts = append(texts, fmt.Sprintf("%s: must be a whole number, not %q; the pod's own priority is used", keys.TaskPriority, text))
			}
		}
	}
	return texts
}
