package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// reasonIgnored is the reason of the event about annotations that have no effect.
const reasonIgnored = "AnnotationIgnored"

// remark tells once what of a gang's and its pods' annotations has no effect as it stands, when its pods exist. Whoever wrote it
// would look for the cause elsewhere.
func remark(s *session.Session, j *session.Job) {
	if j.RemarkedAt == j.Spec || len(j.Tasks) < max(j.MinMember, 1) {
		return
	}
	j.RemarkedAt = j.Spec
	var texts []string
	if text, given := j.Annotations[keys.RunningEstimate]; given {
		if d, err := time.ParseDuration(text); err != nil || d <= 0 {
			texts = append(texts, fmt.Sprintf("%s: want a duration such as 30m, have %q; the run time counts as unknown", keys.RunningEstimate, text))
		}
	}
	for _, f := range s.Rules.Remarks {
		texts = append(texts, f(j)...)
	}
	slices.Sort(texts)
	said := strings.Join(slices.Compact(texts), "; ")
	if said == j.Remarked {
		return
	}
	if j.Remarked = said; said != "" {
		s.Out.Events = append(s.Out.Events, decision.Event{Gang: object(j.Gang), Type: corev1.EventTypeWarning, Reason: reasonIgnored, Message: said})
	}
}
