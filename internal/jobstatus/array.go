package jobstatus

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
)

// longestSet is the maximum length of a list of elements that is shown on one line.
const longestSet = 60

// ArrayText summarizes the states of an array's elements in one line. It returns "" if the job is not an array.
func ArrayText(job *batchv1alpha1.Job) string {
	elements, size, ok := batchv1alpha1.ElementsOf(job)
	if !ok {
		return ""
	}
	parts := []string{fmt.Sprintf("%s, %s", textformat.CountWithNoun(elements.Count(), "task"), truncateElements(elements.String()))}
	if size > 1 {
		parts[0] += fmt.Sprintf(", %d pods each", size)
	}
	if limit, err := batchv1alpha1.ArrayLimit(job); err == nil && limit > 0 {
		parts[0] += fmt.Sprintf(", at most %d at a time", limit)
	}
	states := job.Status.Array
	if states == nil {
		return parts[0]
	}
	part := func(name, set, more string) {
		if set != "" {
			parts = append(parts, name+" "+truncateElements(set)+more)
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
			texts = append(texts, "exit code "+code+": "+truncateElements(states.ExitCodes[code]))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, "; ") + ")"
}

// truncateElements truncates a list of array tasks at the end of a task.
func truncateElements(set string) string {
	if len(set) <= longestSet {
		return set
	}
	cut := strings.LastIndexByte(set[:longestSet], ',')
	if cut < 0 {
		return set
	}
	return set[:cut] + ",…"
}
