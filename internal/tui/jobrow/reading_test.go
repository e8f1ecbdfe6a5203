package jobrow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

var at = time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)

func told(uid, reason, about string, count int32, ago time.Duration) *corev1.Event {
	when := metav1.NewTime(at.Add(-ago))
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Name: uid}, Type: corev1.EventTypeWarning, Reason: reason, Count: count,
		LastTimestamp: when, InvolvedObject: corev1.ObjectReference{Kind: "Job", UID: types.UID(about)}}
}

func seen(t *testing.T, events ...*corev1.Event) *snapshot.Snapshot {
	t.Helper()
	objects := []runtime.Object{&batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{UID: "train", Namespace: "nlp", Name: "train"}}}
	for _, e := range events {
		objects = append(objects, e)
	}
	snap, err := snapshot.Of(at, objects...)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// sheets implements the only action that a Reading uses.
type sheets struct {
	screenapi.Actions
	sheet *jobstatus.Sheet
	err   error
}

func (s sheets) Sheet(context.Context, *snapshot.Job) (*jobstatus.Sheet, error) {
	return s.sheet, s.err
}

func done(t *testing.T, effects []screenapi.Effect) screenapi.Done {
	t.Helper()
	if len(effects) != 1 {
		t.Fatalf("%d effects", len(effects))
	}
	run := effects[0].(screenapi.Run)
	value, err := run.Fetch(t.Context())
	return screenapi.Done{Name: run.Name, Value: value, Err: err}
}

func TestReadingIsUpdatedOnlyWhenTheJobChanges(t *testing.T) {
	t.Parallel()
	var r jobrow.Reading
	snap := seen(t)
	ctx := &screenapi.Context{Snap: snap, Actions: sheets{sheet: &jobstatus.Sheet{}}}
	first := r.RequestIfChanged(ctx, snap.Jobs[0])
	if again := r.RequestIfChanged(ctx, snap.Jobs[0]); again != nil {
		t.Error("it is asked for twice at once")
	}
	if more := r.StoreResult(ctx, done(t, first), snap.Jobs[0]); more != nil || r.RequestIfChanged(ctx, snap.Jobs[0]) != nil {
		t.Error("it is read again though nothing changed")
	}
	ctx.Snap = seen(t, told("e1", "BackOff", "train", 1, time.Minute))
	if r.RequestIfChanged(ctx, ctx.Snap.Jobs[0]) == nil {
		t.Error("it is not read again after something was told")
	}
}

func TestWhatChangesWhileItIsReadIsReadAfterwards(t *testing.T) {
	t.Parallel()
	var r jobrow.Reading
	before, after := seen(t), seen(t)
	ctx := &screenapi.Context{Snap: before, Actions: sheets{sheet: &jobstatus.Sheet{}}}
	first := r.RequestIfChanged(ctx, before.Jobs[0])
	ctx.Snap = after
	if r.StoreResult(ctx, done(t, first), after.Jobs[0]) == nil {
		t.Error("the change is never read")
	}
}

func TestEventsAreThoseReadAndThoseThatCameSince(t *testing.T) {
	t.Parallel()
	var r jobrow.Reading
	snap := seen(t, told("twice", "BackOff", "train", 7, time.Second), told("later", "Evict", "train", 1, 2*time.Second), told("foreign", "Evict", "eval", 1, 0))
	ctx := &screenapi.Context{Snap: snap, Actions: sheets{sheet: &jobstatus.Sheet{
		Events: []corev1.Event{*told("pull", "Pulling", "pod", 1, time.Minute), *told("twice", "BackOff", "train", 6, time.Minute)},
	}}}
	r.StoreResult(ctx, done(t, r.RequestIfChanged(ctx, snap.Jobs[0])), snap.Jobs[0])
	var got []string
	for _, e := range r.ReadAndLiveEvents(snap, snap.Jobs[0]) {
		got = append(got, e.Reason)
		if e.Reason == "BackOff" && e.Count != 7 {
			t.Errorf("the older of two is shown: %d times", e.Count)
		}
	}
	if diff := cmp.Diff([]string{"Pulling", "Evict", "BackOff"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeReadIsSaidAndWhatWasReadStays(t *testing.T) {
	t.Parallel()
	var r jobrow.Reading
	snap := seen(t)
	ctx := &screenapi.Context{Snap: snap, Actions: sheets{sheet: &jobstatus.Sheet{Events: []corev1.Event{*told("pull", "Pulling", "pod", 1, 0)}}}}
	r.StoreResult(ctx, done(t, r.RequestIfChanged(ctx, snap.Jobs[0])), snap.Jobs[0])
	ctx.Snap, ctx.Actions = seen(t), sheets{err: errors.New("no route to host")}
	r.StoreResult(ctx, done(t, r.RequestIfChanged(ctx, ctx.Snap.Jobs[0])), ctx.Snap.Jobs[0])
	if r.Problem() != "no route to host" || len(r.ReadAndLiveEvents(ctx.Snap, ctx.Snap.Jobs[0])) != 1 {
		t.Errorf("problem %q, %d events", r.Problem(), len(r.ReadAndLiveEvents(ctx.Snap, ctx.Snap.Jobs[0])))
	}
}

func TestWhatCouldNotBeReadIsReadWhenTheConnectionIsBack(t *testing.T) {
	t.Parallel()
	var r jobrow.Reading
	snap := seen(t)
	job := snap.Jobs[0]
	link := func(link snapshot.Link, since time.Duration) {
		now := *snap //nolint:govet // a copy with another connection; its memo is not used here
		now.Connection = snapshot.Connection{Link: link, Since: at.Add(since)}
		snap = &now
	}
	ctx := &screenapi.Context{Snap: snap, Actions: sheets{err: errors.New("no route to host")}}
	r.StoreResult(ctx, done(t, r.RequestIfChanged(ctx, job)), job)
	link(snapshot.LinkDisconnected, time.Second)
	if ctx.Snap = snap; r.RequestIfChanged(ctx, job) != nil {
		t.Error("it is asked for while the connection is lost")
	}
	link(snapshot.LinkLive, 2*time.Second)
	ctx.Snap, ctx.Actions = snap, sheets{sheet: &jobstatus.Sheet{}}
	asked := r.RequestIfChanged(ctx, job)
	if asked == nil {
		t.Fatal("it is not asked for again")
	}
	if r.StoreResult(ctx, done(t, asked), job); r.Problem() != "" {
		t.Errorf("the problem stays: %s", r.Problem())
	}
}
