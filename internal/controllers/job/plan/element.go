package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/podtermination"
)

// element summarizes the pods of an array element.
type element struct {
	live, well, badly int32 // numbers of live, succeeded and failed pods
	codes             []int32
	bad               *member   // the first failed pod
	first, last       time.Time // when its pods started and ended
}

// summarizeElements summarizes the pods of each element, by position.
func (b *builder) summarizeElements() []element {
	list := make([]element, b.array.elements.Count())
	for m := range b.census.inRange() {
		if b.array.elementPosition(m.place) >= len(list) {
			continue
		}
		e := &list[b.array.elementPosition(m.place)]
		switch {
		case !m.hasFinished() || m.stop:
			e.live++
		case m.gone:
			continue // the recorded result remains valid
		case m.podPhaseOf() == corev1.PodSucceeded:
			e.well++
		default:
			e.badly++
			e.codes = append(e.codes, exitCodes(m.pod)...)
			if e.bad == nil {
				e.bad = m
			}
		}
		if start := m.pod.Status.StartTime; start != nil && (e.first.IsZero() || start.Time.Before(e.first)) {
			e.first = start.Time
		}
		if end := podtermination.FinishTime(m.pod); m.hasEndedByItself() && end.After(e.last) {
			e.last = end
		}
	}
	return list
}

// elementState is the state of an array element.
type elementState int

const (
	waits elementState = iota
	runs
	succeeded
	failed
	cancelled
)

// stateOfElement returns the state of the element at a position. The result of the element's pods takes precedence over
// the recorded result, the recorded result takes precedence over pods that have not ended, and any result takes
// precedence over a later cancellation.
func (b *builder) stateOfElement(at int, e *element, phase batchv1alpha1.JobPhase) elementState {
	ended := e.live == 0 && e.well+e.badly == b.array.size
	recorded := b.record.elements[at]
	switch {
	case e.live > 0 && !b.array.off[at] && recorded == "":
		// A live pod with a recorded result can only come from an outdated cache, because a restart removes the
		// recorded result.
		return runs
	case ended && e.badly == 0, !ended && recorded == corev1.PodSucceeded:
		return succeeded
	case ended, recorded == corev1.PodFailed:
		return failed
	case b.array.off[at]:
		return cancelled
	// the other pods of the element were stopped when the job ended, and the element will run again
	case e.well+e.badly > 0 && !IsEndedOrAborted(phase):
		return runs
	}
	return waits
}

// countCutShort returns the number of finished pods in elements that were cancelled before all of their pods had
// finished.
func (b *builder) countCutShort() int32 {
	if b.array == nil || len(b.array.off) == 0 || b.array.size == 1 {
		return 0
	}
	var pods int32
	for at, e := range b.summarizeElements() {
		if b.stateOfElement(at, &e, b.currentPhase()) == cancelled {
			pods += e.well + e.badly
		}
	}
	return pods
}

// noCode stands for an unknown exit code.
const noCode = "-1"

// arrayStatus returns the status of the array, which contains the state of each element.
func (b *builder) arrayStatus(phase batchv1alpha1.JobPhase) *batchv1alpha1.ArrayStatus {
	elements, recordedCodes, recordedCauses := b.summarizeElements(), exitCodesByElement(b.job.Status.Array), causesByElement(b.job.Status.Array)
	sets := map[elementState][]int32{}
	codes, causes := map[string][]int32{}, map[string][]int32{}
	var waiting []int
	at := 0
	for index := range b.array.elements.All() {
		e := &elements[at]
		state := b.stateOfElement(at, e, phase)
		sets[state] = append(sets[state], index)
		switch state {
		case waits:
			waiting = append(waiting, at)
		case failed:
			known := codeOfElement(recordedCodes, index)
			code, cause := cmp.Or(known, noCode), codeOfElement(recordedCauses, index)
			if len(e.codes) > 0 {
				code = strconv.Itoa(int(e.codes[0]))
			}
			if e.bad != nil && code != known { // do not recompute a cause that is already recorded
				cause = b.failureBeyondContainers(e.bad)
			}
			codes[code] = append(codes[code], index)
			if cause != "" {
				causes[cause] = append(causes[cause], index)
			}
		}
		at++
	}
	text := func(set []int32) string { return batchv1alpha1.IndicesOf(set).String() }
	s := &batchv1alpha1.ArrayStatus{Running: text(sets[runs]), Succeeded: text(sets[succeeded]), Failed: text(sets[failed]), Cancelled: text(sets[cancelled])}
	s.ExitCodes, s.Causes = formatElementSets(codes), formatElementSets(causes)
	if IsEndedOrAborted(phase) {
		s.Times = b.formatTimes(elements, slices.Concat(sets[succeeded], sets[failed]))
	} else {
		s.Reason = string(b.elementsWaitReason(waiting))
	}
	return s
}

// failureBeyondContainers returns the reason code for a failed pod if the failure was not caused by the pod's own
// containers, and "" otherwise.
func (b *builder) failureBeyondContainers(m *member) string {
	if c := b.causeOfMember(m); c.code != reason.PodFailed {
		return c.reasonCodeText()
	}
	return ""
}

// formatElementSets formats sets of elements. It returns nil for an empty map.
func formatElementSets(sets map[string][]int32) map[string]string {
	if len(sets) == 0 {
		return nil
	}
	written := make(map[string]string, len(sets))
	for key, list := range sets {
		written[key] = batchv1alpha1.IndicesOf(list).String()
	}
	return written
}

// formatTimes formats the start times and run times of the elements. They are computed once, when the job ends, because
// the pods may no longer exist later.
func (b *builder) formatTimes(elements []element, ended []int32) string {
	if old := b.job.Status.Array; old != nil && old.Times != "" && IsEndedOrAborted(b.job.Status.State.Phase) {
		return old.Times
	}
	var words []string
	seconds := func(d time.Duration) string { return strconv.Itoa(int(max(d, 0) / time.Second)) }
	for at := range b.array.elements.Positions(batchv1alpha1.IndicesOf(ended)) {
		e := &elements[at]
		if e.first.IsZero() || e.last.IsZero() {
			words = append(words, "-")
			continue
		}
		words = append(words, seconds(e.first.Sub(b.job.CreationTimestamp.Time))+"+"+seconds(e.last.Sub(e.first)))
	}
	return strings.Join(words, " ")
}

// exitCodesByElement returns the failed elements by exit code, as recorded in the status.
func exitCodesByElement(states *batchv1alpha1.ArrayStatus) map[string]batchv1alpha1.Indices {
	if states == nil {
		return nil
	}
	return parseSets(states.ExitCodes)
}

// causesByElement returns the failed elements that have a recorded cause, by cause.
func causesByElement(states *batchv1alpha1.ArrayStatus) map[string]batchv1alpha1.Indices {
	if states == nil {
		return nil
	}
	return parseSets(states.Causes)
}

func parseSets(texts map[string]string) map[string]batchv1alpha1.Indices {
	sets := make(map[string]batchv1alpha1.Indices, len(texts))
	for key, text := range texts {
		sets[key], _ = batchv1alpha1.ParseIndices(text)
	}
	return sets
}

// codeOfElement returns the code of an element, or "".
func codeOfElement(sets map[string]batchv1alpha1.Indices, index int32) string {
	var codes []string
	for code, set := range sets {
		if set.Has(index) {
			codes = append(codes, code)
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return slices.Min(codes)
}
