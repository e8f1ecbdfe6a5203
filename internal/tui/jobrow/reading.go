package jobrow

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// readName is the name of the Run that reads data for a Reading.
const readName = "read the job's pods and events"

// Reading holds additional data about the job that a screen shows: its complete pods and all of its events. The data
// is read when the screen opens, and again when the job changes or the connection is restored, but never
// periodically. The zero Reading has no data.
type Reading struct {
	// asked is the state of the job at the last request. busy is true while the response is pending.
	asked standing
	busy  bool
	of    types.UID
	sheet *jobstatus.Sheet
	err   error
}

// standing is the version of a job's data: its row, the number of its events, and the start of the current connection. If
// any of these changes, the data is requested again. The start of the connection is part of it, so that changes during
// an outage are not missed.
type standing struct {
	row    *snapshot.Job
	events int32
	live   time.Time
}

func (r *Reading) standingOf(snap *snapshot.Snapshot, job *snapshot.Job) standing {
	s := standing{row: job, live: r.asked.live}
	if snap.Connection.Link == snapshot.LinkLive {
		s.live = snap.Connection.Since
	}
	for _, event := range EventsOfJob(snap, job) {
		s.events += max(event.Count, 1)
	}
	return s
}

// read is the result of the Run of a Reading. It includes any error, so that the error is shown in place of the
// events instead of interrupting the user.
type read struct {
	of    types.UID
	sheet *jobstatus.Sheet
	err   error
}

// RequestIfChanged requests the data of a job if the data may have changed.
func (r *Reading) RequestIfChanged(ctx *screenapi.Context, job *snapshot.Job) []screenapi.Effect {
	if job == nil || ctx.Actions == nil {
		return nil
	}
	now := r.standingOf(ctx.Snap, job)
	if r.busy || r.asked == now {
		return nil
	}
	r.asked, r.busy = now, true
	get := ctx.Actions.Sheet
	return []screenapi.Effect{screenapi.Run{Name: readName, Quiet: true, Fetch: func(ctx context.Context) (any, error) {
		sheet, err := get(ctx, job)
		return read{job.UID, sheet, err}, nil
	}}}
}

// StoreResult stores the result of a Run. If the job has changed in the meantime, it requests the data again.
func (r *Reading) StoreResult(ctx *screenapi.Context, done screenapi.Done, job *snapshot.Job) []screenapi.Effect {
	if done.Name != readName {
		return nil
	}
	r.busy = false
	if answer, ok := done.Value.(read); ok {
		r.err = answer.err
		if answer.err == nil {
			r.of, r.sheet = answer.of, answer.sheet
		}
	}
	return r.RequestIfChanged(ctx, job)
}

// hasDataOf reports whether the Reading has data about this job.
func (r *Reading) hasDataOf(job *snapshot.Job) bool { return r.sheet != nil && r.of == job.UID }

// Problem returns the reason why the data could not be read, or "".
func (r *Reading) Problem() string {
	if r.err == nil {
		return ""
	}
	return r.err.Error()
}

// IsFirstReading reports whether the first data of a job is still being read.
func (r *Reading) IsFirstReading(job *snapshot.Job) bool { return r.busy && !r.hasDataOf(job) }

// ReadAndLiveEvents returns the events of a job that were read, and later ones, with the newest last.
func (r *Reading) ReadAndLiveEvents(snap *snapshot.Snapshot, job *snapshot.Job) []*snapshot.Event {
	live := EventsOfJob(snap, job)
	if !r.hasDataOf(job) {
		return live
	}
	newest := map[types.UID]*snapshot.Event{}
	for i := range r.sheet.Events {
		e := snapshot.FromEvent(&r.sheet.Events[i])
		newest[e.UID] = e
	}
	for _, e := range live {
		if known := newest[e.UID]; known == nil || !e.At.Before(known.At) {
			newest[e.UID] = e
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b *snapshot.Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.UID, b.UID)) })
}

// ReportFor returns the explanation of a job, as shown by `vcctl job explain`.
func (r *Reading) ReportFor(snap *snapshot.Snapshot, job *snapshot.Job) *jobstatus.Report {
	if !r.hasDataOf(job) {
		return SnapshotReport(snap, job)
	}
	sheet := sheetWithoutPods(snap, job)
	if a, enough := jobstatus.NewReportWithoutPods(sheet); enough {
		return a
	}
	sheet.Pods = r.sheet.Pods
	for _, event := range r.ReadAndLiveEvents(snap, job) {
		sheet.Events = append(sheet.Events, toAPIEvent(event))
	}
	return jobstatus.NewReport(sheet)
}
