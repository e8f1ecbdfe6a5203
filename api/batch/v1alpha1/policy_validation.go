package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// PolicyEvents lists the events that a policy may handle; all other events are internal.
var PolicyEvents = []busv1alpha1.Event{
	busv1alpha1.AnyEvent, busv1alpha1.PodFailedEvent, busv1alpha1.PodEvictedEvent, busv1alpha1.PodPendingEvent,
	busv1alpha1.JobUnknownEvent, busv1alpha1.TaskCompletedEvent, busv1alpha1.TaskFailedEvent, busv1alpha1.JobUpdatedEvent,
}

// PolicyActions lists the actions that a policy may request.
var PolicyActions = []busv1alpha1.Action{
	busv1alpha1.AbortJobAction, busv1alpha1.RestartJobAction, busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction,
	busv1alpha1.RestartPartitionAction, busv1alpha1.TerminateJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.ResumeJobAction,
}

// validatePolicies checks the policies of a job or of a task.
func validatePolicies(policies []LifecyclePolicy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	events := map[busv1alpha1.Event]bool{}
	exitCodes := map[int32]bool{}
	for i, policy := range policies {
		at := path.Index(i)
		answered := policy.AnsweredEvents()
		switch {
		case policy.ExitCode != nil && len(answered) > 0:
			errs = append(errs, field.Invalid(at, fmt.Sprintf("event %s, exitCode %d", joined(answered), *policy.ExitCode),
				"must not specify event and exitCode simultaneously: use two policies"))
			continue
		case policy.ExitCode == nil && len(answered) == 0:
			errs = append(errs, field.Required(at.Child("event"), "either event and exitCode should be specified"))
			continue
		case policy.ExitCode != nil:
			errs = append(errs, validateExitCode(*policy.ExitCode, exitCodes, at.Child("exitCode"))...)
		default:
			errs = append(errs, validateEvents(answered, events, at)...)
		}
		if !slices.Contains(PolicyActions, policy.Action) {
			errs = append(errs, field.Invalid(at.Child("action"), policy.Action, "invalid policy action; valid actions are "+joined(PolicyActions)))
		}
	}
	if events[busv1alpha1.AnyEvent] && len(events) > 1 {
		errs = append(errs, field.Invalid(path, joined(sortedKeys(events)), "if there's * here, no other policy should be here"))
	}
	return errs
}

// validateEvents checks the events of one policy and adds them to seen.
func validateEvents(events []busv1alpha1.Event, seen map[busv1alpha1.Event]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, event := range events {
		if !slices.Contains(PolicyEvents, event) {
			errs = append(errs, field.Invalid(at.Child("event"), event, "invalid policy event; valid events are "+joined(PolicyEvents)))
		}
		if seen[event] {
			errs = append(errs, field.Invalid(at.Child("event"), event, fmt.Sprintf("duplicate event %s  across different policy", event)))
		}
		seen[event] = true
	}
	return errs
}

func validateExitCode(code int32, seen map[int32]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if code == 0 {
		errs = append(errs, field.Invalid(at, code, "0 is not a valid error code"))
	}
	if seen[code] {
		errs = append(errs, field.Invalid(at, code, fmt.Sprintf("duplicate exitCode %d", code)))
	}
	seen[code] = true
	return errs
}

// AnsweredEvents returns the events that a policy handles, in order and without duplicates.
func (p *LifecyclePolicy) AnsweredEvents() []busv1alpha1.Event {
	var events []busv1alpha1.Event
	for _, event := range append([]busv1alpha1.Event{p.Event}, p.Events...) {
		if event != "" && !slices.Contains(events, event) {
			events = append(events, event)
		}
	}
	return events
}

func joined[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, ", ")
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
