package show

import (
	"strings"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

// addStartFacts adds the job's number and its start conditions as facts.
func addStartFacts(job *batchv1alpha1.Job, now time.Time, fact func(name, value string)) {
	if id, ok := batchv1alpha1.JobID(job); ok {
		fact("Number", batchv1alpha1.FormatJobID(id))
	}
	if array := jobstatus.ArrayText(job); array != "" {
		fact("Array", array)
	}
	if held := job.Annotations[keys.Hold]; held != "" {
		fact("Held by", held)
	}
	if begin, err := batchv1alpha1.BeginOf(job); err == nil && !begin.IsZero() {
		text := begin.Format(time.RFC3339)
		if begin.After(now) {
			text += " (in " + render.FormatAgeSince(begin, now) + ")"
		}
		fact("Begins", text)
	}
	if dependency := job.Annotations[keys.Dependency]; dependency != "" {
		if gate := job.Status.Gate; gate != nil && len(gate.Met) > 0 {
			dependency += " (met: " + strings.Join(gate.Met, ", ") + ")"
		}
		fact("Depends on", dependency)
	}
}
