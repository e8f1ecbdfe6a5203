package state

import (
	"strconv"
	"strings"
	"time"

	"maps"
	"slices"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
)

// Part is a set of array elements that are in the same state.
type Part struct {
	Elements batchv1alpha1.Indices
	State    State
	// Exit describes how each of the elements ended. Known is false if this was not recorded.
	Exit  Exit
	Known bool
	// HasPods is true if the elements have started and have not ended. The controller has then created their pods, but
	// the pods may not have nodes yet.
	HasPods bool
}

// ElementParts returns the parts of an array: first the pending elements, then the running ones, then the ended ones.
// ok is false if the job is not an array.
func ElementParts(f Facts) (parts []Part, ok bool) {
	all, _, ok := batchv1alpha1.ElementsOf(f.Job)
	if !ok {
		return nil, false
	}
	s := f.Job.Status.Array
	if s == nil {
		s = &batchv1alpha1.ArrayStatus{}
	}
	add := func(set batchv1alpha1.Indices, state State, exit Exit, known bool) {
		if len(set) > 0 {
			parts = append(parts, Part{Elements: set, State: state, Exit: exit, Known: known})
		}
	}
	running := parseIndices(s.Running)
	add(waitingIndices(all, s), waitingState(f, s), Exit{}, false)
	if len(running) > 0 {
		parts = append(parts, Part{Elements: running, State: runningState(f), HasPods: true})
	}
	add(parseIndices(s.Succeeded), State{Completed, None}, Exit{}, true)
	failed := parseIndices(s.Failed)
	for _, text := range slices.Sorted(maps.Keys(s.ExitCodes)) {
		set := parseIndices(s.ExitCodes[text])
		failed = failed.Minus(set)
		code, err := strconv.Atoi(text)
		known := err == nil && code >= 0
		if !known {
			code = 0
		}
		for _, cause := range slices.Sorted(maps.Keys(s.Causes)) {
			if end := codeOfReason(reason.Code(cause)); end != "" {
				of := set.Minus(set.Minus(parseIndices(s.Causes[cause])))
				set = set.Minus(of)
				add(of, FinalState(end), elementExit(end, int32(code)), known)
			}
		}
		switch {
		case !known:
			add(set, FinalState(NodeFail), Exit{}, false)
		case hasCancelledItself(f.Job.Labels, int32(code)):
			add(set, FinalState(Cancelled), Exit{}, true)
		default:
			add(set, FinalState(Failed), NewExit(int32(code)), true)
		}
	}
	add(failed, State{Failed, slurmReason(ended[Failed])}, Exit{Code: 1}, false)
	add(parseIndices(s.Cancelled), State{Cancelled, None}, Exit{}, false)
	return parts, true
}

// elementExit returns how an element ended, given its final state and a container's exit code.
func elementExit(end Code, code int32) Exit {
	if end == OutOfMemory {
		return NoMemory
	}
	return NewExit(code)
}

// parseIndices parses a set of indices that the controller wrote. An invalid set is treated as empty.
func parseIndices(text string) batchv1alpha1.Indices {
	set, err := batchv1alpha1.ParseIndices(text)
	if err != nil {
		return nil
	}
	return set
}

func waitingIndices(all batchv1alpha1.Indices, s *batchv1alpha1.ArrayStatus) batchv1alpha1.Indices {
	for _, text := range []string{s.Running, s.Succeeded, s.Failed, s.Cancelled} {
		all = all.Minus(parseIndices(text))
	}
	return all
}

// waitingState returns the state of elements that have not started. If the array has ended, these elements will never
// start, so they count as cancelled.
func waitingState(f Facts, s *batchv1alpha1.ArrayStatus) State {
	switch phase := phaseOf(f.Job); phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Completing, batchv1alpha1.Terminating:
		return State{Cancelled, None}
	case batchv1alpha1.Aborted, batchv1alpha1.Aborting:
		if CancelledBy(f.Job) != "" {
			return State{Cancelled, None}
		}
		return State{Suspended, currentReason(f, Suspended)}
	}
	if word := gateReason(f); word != "" {
		return State{Pending, word}
	}
	if s.Reason != "" {
		return State{Pending, slurmReason(reason.Code(s.Reason))}
	}
	return State{Pending, waitingReason(f)}
}

// UnplacedState returns the state of an element whose pods have no nodes yet.
func UnplacedState(f Facts) State {
	if word := queueReason(f); word != "" {
		return State{Pending, word}
	}
	if f.Group != nil {
		if word := schedulerReason(f.Group); word != None {
			return State{Pending, word}
		}
	}
	return State{Pending, resources}
}

func runningState(f Facts) State {
	switch code := currentCode(f); code {
	case Completing, Requeued:
		return State{code, None}
	case Configuring:
		return State{code, currentReason(f, code)}
	case Pending:
		return UnplacedState(f)
	}
	return State{Running, None}
}

// ElementTimes returns the times of the array elements that have ended, as recorded in the job's status. It returns nil
// if no times are recorded.
func ElementTimes(job *batchv1alpha1.Job) map[int32]Times {
	s := job.Status.Array
	if s == nil || s.Times == "" {
		return nil
	}
	done := parseIndices(s.Succeeded).Union(parseIndices(s.Failed))
	words := strings.Fields(s.Times)
	times := make(map[int32]Times, len(words))
	at := 0
	for element := range done.All() {
		if at == len(words) {
			break
		}
		begin, length, ok := strings.Cut(words[at], "+")
		at++
		b, err := strconv.Atoi(begin)
		l, err2 := strconv.Atoi(length)
		if !ok || err != nil || err2 != nil {
			continue
		}
		start := job.CreationTimestamp.Add(time.Duration(b) * time.Second)
		times[element] = Times{Submit: job.CreationTimestamp.Time, Eligible: job.CreationTimestamp.Time, Start: start, End: start.Add(time.Duration(l) * time.Second)}
	}
	return times
}
