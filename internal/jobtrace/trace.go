package jobtrace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// The names of spans. Job is the root, and Retry contains the states of an attempt after a restart. All others are states
// of the job.
const (
	Job        = "job"
	Retry      = "retry"
	Restarting = "restarting" // the pods of the previous attempt are being stopped
	Held       = "held"       // a dependency, a begin time or a hold delays the job; its PodGroup does not exist
	Queued     = "queued"     // the gang waits for admission to its queue
	Admitted   = "admitted"   // the gang waits for nodes
	Placed     = "placed"     // the pods are being bound to their nodes
	Bound      = "bound"      // the containers are being started
	Running    = "running"
	Stopping   = "stopping"
)

// Attributes of the root span. The namespace has the name that OpenTelemetry gave it.
const (
	namespaceKey = attribute.Key("k8s.namespace.name")
	nameKey      = attribute.Key("vc.job.name")
	uidKey       = attribute.Key("vc.job.uid")
	queueKey     = attribute.Key("vc.job.queue")
	userKey      = attribute.Key("vc.job.user")
	phaseKey     = attribute.Key("vc.job.phase")
	reasonKey    = attribute.Key("vc.job.reason")
	podsKey      = attribute.Key("vc.job.pods")
	minimumKey   = attribute.Key("vc.job.min_available")
	retriesKey   = attribute.Key("vc.job.retries")
	restartsKey  = attribute.Key("vc.job.user_restarts")
)

// Attributes of retries and of events.
const (
	retryNumberKey  = attribute.Key("vc.retry.number")
	eventReasonKey  = attribute.Key("vc.event.reason")
	eventMessageKey = attribute.Key("vc.event.message")
	eventPodsKey    = attribute.Key("vc.event.pods")
)

// Trace is the trace of a job.
type Trace struct {
	ID trace.TraceID
	// Spans holds the root and then the other spans, each after its parent.
	Spans []Span
}

// Span is a period of a job.
type Span struct {
	Name string
	// ID identifies the span in its trace. Parent is the ID of its parent; it is invalid for the root.
	ID, Parent trace.SpanID
	Start, End time.Time
	Attributes []attribute.KeyValue
	Events     []Event
	// Error describes why the job failed; empty if it did not fail.
	Error string
}

// Event is something that happened at a moment.
type Event struct {
	Name       string
	At         time.Time
	Attributes []attribute.KeyValue
}

// Compute returns the trace of a job that has ended. history holds the attempts to run it.
func Compute(job *batchv1alpha1.Job, history History) Trace {
	b := &builder{uid: job.UID, version: job.Status.Version, trace: Trace{ID: TraceID(job.UID)}}
	end := truncate(job.Status.State.LastTransitionTime.Time)
	root := b.addSpan(Span{
		Name: Job, Start: truncate(job.CreationTimestamp.Time), End: end,
		Attributes: jobAttributes(job), Events: jobEvents(job, history), Error: failureOf(job),
	}, Job)
	for i := range history {
		b.addAttempt(root, &history[i], attemptEnd(history, i, end))
	}
	return b.trace
}

// attemptEnd returns the end of an attempt of a job that ended at jobEnd.
func attemptEnd(history History, i int, jobEnd time.Time) time.Time {
	switch {
	case !history[i].End.IsZero():
		return history[i].End
	case i+1 < len(history):
		return history[i+1].Begin
	}
	return jobEnd
}

// TraceID returns the ID of the trace of a job: the digits of the UID. If the UID is not a UUID, the ID is its hash.
func TraceID(uid types.UID) trace.TraceID {
	var id trace.TraceID
	digits, err := hex.DecodeString(strings.ReplaceAll(string(uid), "-", ""))
	if err != nil || len(digits) != len(id) {
		sum := sha256.Sum256([]byte(uid))
		digits = sum[:len(id)]
	}
	copy(id[:], digits)
	return id
}

// jobAttributes returns the attributes of the root span.
func jobAttributes(job *batchv1alpha1.Job) []attribute.KeyValue {
	var pods int64
	for i := range job.Spec.Tasks {
		pods += int64(job.Spec.Tasks[i].Replicas)
	}
	attributes := []attribute.KeyValue{
		namespaceKey.String(job.Namespace), nameKey.String(job.Name), uidKey.String(string(job.UID)),
		queueKey.String(cmp.Or(job.Spec.Queue, keys.DefaultQueue)), phaseKey.String(string(job.Status.State.Phase)),
		podsKey.Int64(pods), minimumKey.Int64(int64(job.Spec.MinAvailable)),
		retriesKey.Int64(int64(job.Status.RetryCount)), restartsKey.Int64(int64(job.Status.UserRestarts)),
	}
	if user := job.Annotations[keys.User]; user != "" {
		attributes = append(attributes, userKey.String(user))
	}
	if reason := reasonOf(job); reason != "" {
		attributes = append(attributes, reasonKey.String(reason))
	}
	return attributes
}

// reasonOf returns the code for the reason why a job ended.
func reasonOf(job *batchv1alpha1.Job) string {
	if failure := job.Status.Failure; failure != nil {
		return failure.Reason
	}
	return job.Status.State.Reason
}

// failureOf describes why a job failed. It returns "" if the job did not fail.
func failureOf(job *batchv1alpha1.Job) string {
	failure := job.Status.Failure
	switch {
	case failure != nil:
		return cmp.Or(failure.Message, failure.Reason)
	case job.Status.State.Phase == batchv1alpha1.Failed:
		return cmp.Or(job.Status.State.Message, job.Status.State.Reason, "the job failed")
	}
	return ""
}

// jobEvents returns the events of the root span: the restarts, and the last eviction.
func jobEvents(job *batchv1alpha1.Job, history History) []Event {
	var events []Event
	for i := 1; i < len(history); i++ {
		ended := &history[i-1]
		events = append(events, newEvent("restart", history[i].Begin, ended.Reason, ended.Message))
	}
	if evictions := job.Status.Evictions; evictions != nil {
		event := newEvent("eviction", evictions.Last.At.Time, evictions.Last.Reason, evictions.Last.Message)
		event.Attributes = append(event.Attributes, eventPodsKey.Int64(int64(evictions.Last.Pods)))
		events = append(events, event)
	}
	return events
}

func newEvent(name string, at time.Time, reason, message string) Event {
	return Event{Name: name, At: truncate(at), Attributes: []attribute.KeyValue{eventReasonKey.String(reason), eventMessageKey.String(message)}}
}

// builder adds spans to the trace of a job.
type builder struct {
	uid types.UID
	// version distinguishes the spans of a job that was aborted, resumed and ended again.
	version int32
	trace   Trace
}

// addSpan adds a span and returns it with its ID, which is derived from the job and from the place of the span.
func (b *builder) addSpan(span Span, place string) Span {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", b.uid, b.version, place))
	copy(span.ID[:], sum[:])
	b.trace.Spans = append(b.trace.Spans, span)
	return span
}

// addAttempt adds the spans of an attempt that ended at end. Those of the first attempt are children of the root.
func (b *builder) addAttempt(root Span, a *Attempt, end time.Time) {
	parent := root
	end = clamp(end, root.Start, root.End)
	if a.Number > 0 {
		parent = b.addSpan(Span{
			Name: Retry, Parent: root.ID, Start: clamp(a.Begin, root.Start, end), End: end,
			Attributes: []attribute.KeyValue{retryNumberKey.Int64(int64(a.Number))},
		}, fmt.Sprintf("%d/%s", a.Number, Retry))
	}
	states := a.states()
	start := parent.Start
	for i, state := range states {
		start = clamp(state.start, start, end)
		until := end
		if i+1 < len(states) {
			until = clamp(states[i+1].start, start, end)
		}
		b.addSpan(Span{Name: state.name, Parent: parent.ID, Start: start, End: until}, fmt.Sprintf("%d/%s", a.Number, state.name))
	}
}

// clamp returns t, or the nearest time between the first and the last.
func clamp(t, first, last time.Time) time.Time {
	switch {
	case t.After(last):
		return last
	case t.Before(first):
		return first
	}
	return t
}

// state is a state of a job, which lasts until the next one begins.
type state struct {
	name  string
	start time.Time
}

const (
	// rounding is the largest difference between two recorded times that may be due to their precision.
	rounding = time.Second
	// creationTime is the longest time that a busy controller may need to create the PodGroup of a job that is not held.
	creationTime = 10 * time.Second
)

// states returns the states whose beginnings are known, in their order.
func (a *Attempt) states() []state {
	var states []state
	add := func(name string, start time.Time) {
		if !start.IsZero() {
			states = append(states, state{name, start})
		}
	}
	ready := a.Begin // when the attempt could have been queued
	if a.Number > 0 {
		add(Restarting, a.Begin)
		ready = a.Restarted
	}
	wasQueued := !a.Queued.IsZero() || !a.Admitted.IsZero()
	queued := a.Queued
	delay := creationTime
	if a.Gated {
		delay = rounding
	}
	if !ready.IsZero() && queued.Sub(ready) <= delay {
		queued = ready
	}
	if !wasQueued || queued.After(ready) {
		add(Held, ready)
	}
	if wasQueued {
		add(Queued, queued)
	}
	add(Admitted, a.Admitted)
	add(Placed, a.Placed)
	add(Bound, a.Bound)
	add(Running, a.Running)
	add(Stopping, a.Stopping)
	return states
}
