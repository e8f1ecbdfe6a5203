package job

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/render"
)

// startFacts are what was asked for about the start of a job, and its number.
func startFacts(job *batchv1alpha1.Job, now time.Time, fact func(name, value string)) {
	if id, ok := batchv1alpha1.JobID(job); ok {
		fact("Number", batchv1alpha1.FormatJobID(id))
	}
	if array := arrayFact(job); array != "" {
		fact("Array", array)
	}
	if held := job.Annotations[keys.Hold]; held != "" {
		fact("Held by", held)
	}
	if begin, err := batchv1alpha1.BeginOf(job); err == nil && !begin.IsZero() {
		text := begin.Format(time.RFC3339)
		if begin.After(now) {
			text += " (in " + render.Age(begin, now) + ")"
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

// byNumber finds the job of a number in a namespace, when a name is one; nil when it is none, or when nobody has it.
func byNumber(ctx context.Context, c client.Client, namespace, name string) *batchv1alpha1.Job {
	if _, ok := batchv1alpha1.ParseJobID(name); !ok {
		return nil
	}
	jobs := &batchv1alpha1.JobList{}
	err := c.List(ctx, jobs, client.InNamespace(namespace), client.MatchingLabels{keys.JobID: name})
	if err != nil || len(jobs.Items) != 1 {
		return nil
	}
	return &jobs.Items[0]
}

// longestSet is how much of a list of elements is shown in a line.
const longestSet = 60

// arrayFact says in a line what became of the elements of an array; empty for a job that is none.
func arrayFact(job *batchv1alpha1.Job) string {
	elements, size, ok := batchv1alpha1.ElementsOf(job)
	if !ok {
		return ""
	}
	parts := []string{fmt.Sprintf("%d elements, %s", elements.Count(), shortSet(elements.String()))}
	if size > 1 {
		parts[0] += fmt.Sprintf(", of %d pods each", size)
	}
	if limit, err := batchv1alpha1.ArrayLimit(job); err == nil && limit > 0 {
		parts[0] += fmt.Sprintf(", %d at once", limit)
	}
	states := job.Status.Array
	if states == nil {
		return parts[0]
	}
	part := func(name, set, more string) {
		if set != "" {
			parts = append(parts, name+" "+shortSet(set)+more)
		}
	}
	part("running", states.Running, "")
	part("succeeded", states.Succeeded, "")
	part("failed", states.Failed, exitCodes(states))
	part("cancelled", states.Cancelled, "")
	why := ""
	if states.Reason != "" {
		why = " (" + states.Reason + ")"
	}
	part("waiting", batchv1alpha1.WaitingElements(job).String(), why)
	return strings.Join(parts, "; ")
}

func exitCodes(states *batchv1alpha1.ArrayStatus) string {
	var texts []string
	for _, code := range slices.Sorted(maps.Keys(states.ExitCodes)) {
		switch {
		case code == "-1":
		case len(states.ExitCodes) == 1:
			texts = append(texts, "exit code "+code)
		default:
			texts = append(texts, "exit code "+code+": "+shortSet(states.ExitCodes[code]))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, "; ") + ")"
}

// shortSet cuts a list of elements between two of them.
func shortSet(set string) string {
	if len(set) <= longestSet {
		return set
	}
	cut := strings.LastIndexByte(set[:longestSet], ',')
	if cut < 0 {
		return set
	}
	return set[:cut] + ",…"
}
