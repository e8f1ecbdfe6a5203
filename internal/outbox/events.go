package outbox

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func podReference(o decision.Object) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: o.Namespace, Name: o.Name, UID: o.UID}
}

func podGroupReference(o decision.Object) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "PodGroup",
		Namespace: o.Namespace, Name: o.Name, UID: o.UID,
	}
}

func queueReference(o decision.Object) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue", Name: o.Name, UID: o.UID}
}

// newEventWrite returns a write that records an event. If the same event occurred within seriesWindow, the write only
// increments the count of the existing event.
func (o *Outbox) newEventWrite(l lane, about corev1.ObjectReference, kind, reason, message string, now time.Time) *write {
	stamp := metav1.NewTime(now)
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cmp.Or(about.Namespace, metav1.NamespaceDefault), // the default is for cluster-scoped objects
			Name:      o.events.uniqueName(about.Name, now),
		},
		InvolvedObject: about,
		Type:           kind, Reason: reason, Message: message,
		FirstTimestamp: stamp, LastTimestamp: stamp, Count: 1,
		Source:              corev1.EventSource{Component: o.o.SchedulerName},
		ReportingController: o.o.SchedulerName,
	}
	return &write{
		lane: l, key: "event/" + string(about.UID) + "/" + kind + "/" + reason + "/" + message,
		send: func(ctx context.Context) error { return o.recordEvent(ctx, e) },
	}
}

func (o *Outbox) recordEvent(ctx context.Context, e *corev1.Event) error {
	if e.InvolvedObject.Kind == "Pod" && e.Reason == reasonScheduled {
		return ignoreExisting(o.o.API.CreateEvent(ctx, e)) // a pod is scheduled only once, so there is nothing to count
	}
	key := seriesKey{e.InvolvedObject.UID, e.Type, e.Reason, e.Message}
	if name, count, ok := o.events.countRepetition(key, e.LastTimestamp.Time); ok {
		patch := encodeJSON(map[string]any{"count": count, "lastTimestamp": e.LastTimestamp})
		err := o.o.API.PatchEvent(ctx, e.Namespace, name, patch)
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	if err := ignoreExisting(o.o.API.CreateEvent(ctx, e)); err != nil {
		return err
	}
	o.events.startSeries(key, e.Name, e.LastTimestamp.Time)
	return nil
}

// ignoreExisting treats "already exists" as success, because event names are unique, so the existing event was written
// by an earlier attempt.
func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

const (
	seriesWindow = 10 * time.Minute
	// seriesMost is the maximum number of series in the cache. When it is reached, the cache is cleared, so that some
	// repetitions become new events.
	seriesMost = 4096
)

type seriesKey struct {
	about                 types.UID
	kind, reason, message string
}

type series struct {
	name  string
	count int32
	last  time.Time
}

// eventLog caches recent events, so that a repetition increments a count instead of creating a new event.
type eventLog struct {
	mu     sync.Mutex
	series map[seriesKey]*series
	made   uint64 // number of names created so far
}

func newEventLog() *eventLog { return &eventLog{series: map[seriesKey]*series{}} }

// uniqueName returns a unique event name. It contains a counter, because all events of one call to Put have the same
// time.
func (l *eventLog) uniqueName(object string, now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	return object + "." + strconv.FormatInt(now.UnixNano(), 16) + "." + strconv.FormatUint(l.made, 16)
}

// countRepetition counts a repetition and returns the event's name and new count. ok is false if there is no recent
// event of this kind.
func (l *eventLog) countRepetition(key seriesKey, now time.Time) (name string, count int32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.series[key]
	if !ok || now.Sub(s.last) > seriesWindow {
		return "", 0, false
	}
	s.count++
	s.last = now
	return s.name, s.count, true
}

func (l *eventLog) startSeries(key seriesKey, name string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.series) >= seriesMost {
		clear(l.series)
	}
	l.series[key] = &series{name: name, count: 1, last: now}
}
