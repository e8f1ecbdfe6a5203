package eventrow

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// EventsToShow returns the events in the shown namespace and about objects without a namespace, the oldest first.
func EventsToShow(ctx *screenapi.Context) []*snapshot.Event {
	if ctx.Namespace == "" {
		return ctx.Snap.Events
	}
	var shown []*snapshot.Event
	for _, e := range ctx.Snap.Events {
		if e.Namespace == "" || e.Namespace == ctx.Namespace {
			shown = append(shown, e)
		}
	}
	return shown
}

// ObjectText returns the object of an event, for example "job nlp/train" or "node r01n01". The PodGroup of a job is
// shown as the job's gang.
func ObjectText(e *snapshot.Event) string {
	kind, name := strings.ToLower(e.Kind), e.Name
	if job, ok := jobstatus.JobOfPodGroup(name); ok && e.Kind == "PodGroup" {
		kind, name = "gang", job
	}
	if e.Namespace != "" {
		name = e.Namespace + "/" + name
	}
	return kind + " " + name
}

// MessageText returns the message of an event on one line, and how often the event occurred if that is more than once.
func MessageText(e *snapshot.Event) string {
	text := strings.Join(strings.Fields(e.Message), " ")
	if e.Count > 1 {
		text += fmt.Sprintf(" (x%d)", e.Count)
	}
	return text
}

// TypeStyle returns the style of an event's type.
func TypeStyle(e *snapshot.Event) canvas.Style {
	if e.Type == corev1.EventTypeWarning {
		return theme.Warn
	}
	return theme.Plain
}

// FindJob returns the job that an event is about: the object itself, or the job of the pod or PodGroup. It returns nil
// if the job is not known.
func FindJob(snap *snapshot.Snapshot, e *snapshot.Event) *snapshot.Job {
	if e.Kind == "Job" {
		return snap.Job(e.Of)
	}
	return snapshot.CachedValue(snap, memo("jobs by UID of pod and PodGroup"), func() map[types.UID]*snapshot.Job { return jobsByOwnedUID(snap.Jobs) })[e.Of]
}

// memo is the type of the keys of cached values.
type memo string

// jobsByOwnedUID maps the UIDs of PodGroups and pods to their jobs.
func jobsByOwnedUID(jobs []*snapshot.Job) map[types.UID]*snapshot.Job {
	owners := map[types.UID]*snapshot.Job{}
	for _, job := range jobs {
		if job.Group != nil {
			owners[job.Group.UID] = job
		}
		for _, pod := range job.Pods {
			owners[pod.UID] = job
		}
	}
	return owners
}

// FilterFields are the values by which events can be filtered.
var FilterFields = filter.Fields[*snapshot.Event]{
	Words: []filter.Word[*snapshot.Event]{
		{Key: "type", Of: func(e *snapshot.Event, to []string) []string { return append(to, e.Type) }},
		{Key: "reason", Of: func(e *snapshot.Event, to []string) []string { return append(to, e.Reason) }},
		{Key: "kind", Of: func(e *snapshot.Event, to []string) []string { return append(to, e.Kind) }},
		{Key: "name", Also: []string{"object"}, Of: func(e *snapshot.Event, to []string) []string { return append(to, e.Name) }},
		{Key: "ns", Also: []string{"namespace"}, Of: func(e *snapshot.Event, to []string) []string { return append(to, e.Namespace) }},
	},
	Numbers: []filter.Number[*snapshot.Event]{
		{Key: "count", Of: func(e *snapshot.Event) float64 { return float64(e.Count) }},
	},
	Text: func(e *snapshot.Event, to []string) []string {
		return append(to, e.Type, e.Kind, e.Namespace, e.Name, e.Reason, e.Message)
	},
}
