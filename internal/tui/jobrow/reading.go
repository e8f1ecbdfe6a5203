package jobrow

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screen"
)

// readName is the Run by which a Reading reads.
const readName = "read what is told about the job"

// Reading is what is read about the one job that a screen shows, beyond what is watched of all: its pods whole, and every event. It is read when
// the screen opens and again when something of the job changes or a lost connection is back, never by the clock. The zero Reading has read nothing.
type Reading struct {
	// asked is how the job stood when it was asked for last; busy says that the answer is on its way.
	asked standing
	busy  bool
	of    types.UID
	sheet *account.Sheet
	err   error
}

// standing tells one state of a job from the next: its row, what was told of it live, and since when the connection is as it is:
// what could not be read while it was lost, or was told meanwhile, is read when it is back.
type standing struct {
	row  *snapshot.Job
	told int32
	live time.Time
}

func (r *Reading) stands(snap *snapshot.Snapshot, job *snapshot.Job) standing {
	s := standing{row: job, live: r.asked.live}
	if snap.Connection.Link == snapshot.LinkLive {
		s.live = snap.Connection.Since
	}
	for _, event := range EventsOf(snap, job) {
		s.told += max(event.Count, 1)
	}
	return s
}

// what a Run of a Reading brings. What goes wrong is part of it: it is shown where events stand, and does not interrupt.
type read struct {
	of    types.UID
	sheet *account.Sheet
	err   error
}

// Want asks for what is told about a job, when that may be other than what was read.
func (r *Reading) Want(ctx *screen.Context, job *snapshot.Job) []screen.Effect {
	if job == nil || ctx.Actions == nil {
		return nil
	}
	now := r.stands(ctx.Snap, job)
	if r.busy || r.asked == now {
		return nil
	}
	r.asked, r.busy = now, true
	get := ctx.Actions.Sheet
	return []screen.Effect{screen.Run{Name: readName, Quiet: true, Fetch: func(ctx context.Context) (any, error) {
		sheet, err := get(ctx, job)
		return read{job.UID, sheet, err}, nil
	}}}
}

// Take takes the answer in, and asks again when the job changed meanwhile.
func (r *Reading) Take(ctx *screen.Context, done screen.Done, job *snapshot.Job) []screen.Effect {
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
	return r.Want(ctx, job)
}

// of the job, or of another one, or of none yet.
func (r *Reading) knows(job *snapshot.Job) bool { return r.sheet != nil && r.of == job.UID }

// Problem is why what is told about the job could not be read; "" when it was.
func (r *Reading) Problem() string {
	if r.err == nil {
		return ""
	}
	return r.err.Error()
}

// Pending says that the first answer about a job is on its way.
func (r *Reading) Pending(job *snapshot.Job) bool { return r.busy && !r.knows(job) }

// Events are those about a job that were read and those that came since, the newest last.
func (r *Reading) Events(snap *snapshot.Snapshot, job *snapshot.Job) []*snapshot.Event {
	live := EventsOf(snap, job)
	if !r.knows(job) {
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
	all := make([]*snapshot.Event, 0, len(newest))
	for _, e := range newest {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *snapshot.Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.UID, b.UID)) })
	return all
}

// Account is what `vcctl job explain` tells about a job.
func (r *Reading) Account(snap *snapshot.Snapshot, job *snapshot.Job) *account.Account {
	if !r.knows(job) {
		return Account(snap, job)
	}
	sheet := bare(snap, job)
	if a, enough := account.Alone(sheet); enough {
		return a
	}
	sheet.Pods = r.sheet.Pods
	for _, event := range r.Events(snap, job) {
		sheet.Events = append(sheet.Events, eventOf(event))
	}
	return account.Of(sheet)
}
