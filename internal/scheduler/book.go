package scheduler

import (
	"math"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// book remembers the gangs between cycles: which wait, which are parked because
// nothing changed that could help them. It only saves work: an engine with an
// empty book decides the same.
type book struct {
	jobs    map[*model.Gang]*session.Job
	waiting []*session.Job             // want more than they have; no order
	at      map[*session.Job]int       // position in waiting
	dirty   []*session.Job             // not in step with the model: tried things in the last cycle
	due     map[*session.Job]time.Time // to be reported again, then
	seen    uint64                     // generation of the model at the last cycle
	stamps  map[*queue.Queue]stamp     // of the queues at the last cycle
	reclaim uint64
}

// stamp is what of a queue lets its gangs hope again when it changes.
type stamp struct {
	gen                uint64
	deserved, capacity []float64
	version            uint64
}

func (b *book) reset() {
	b.jobs = map[*model.Gang]*session.Job{}
	b.at = map[*session.Job]int{}
	b.stamps = map[*queue.Queue]stamp{}
	b.due = map[*session.Job]time.Time{}
}

func (b *book) job(g *model.Gang) *session.Job { return b.jobs[g] }

// update brings the book up to date with the model and fills the session with
// the gangs to look at.
func (b *book) update(s *session.Session) {
	look := func(g *model.Gang) { b.look(s, g) }
	for _, j := range b.dirty {
		j.Unload()
		look(j.Gang)
	}
	b.dirty = b.dirty[:0]
	if b.seen == 0 || !s.Cluster.GangsSince(b.seen, look) {
		for g := range b.jobs {
			look(g)
		}
		for _, g := range s.Cluster.Gangs {
			look(g)
		}
	}
	b.seen = s.Cluster.Gen()
	b.stampQueues(s)
	b.wake(s)
}

// look loads one gang that may have changed.
func (b *book) look(s *session.Session, g *model.Gang) {
	j := b.jobs[g]
	if !g.Known {
		if j != nil {
			b.leave(j)
			delete(b.jobs, g)
			delete(b.due, j)
		}
		return
	}
	if j == nil {
		j = &session.Job{Gang: g}
		b.jobs[g] = j
	}
	if j.Touched && j.Loaded() {
		return // seen in this update already
	}
	j.Load(s)
	s.Touch(j)
	j.Parked = false
	if j.Wants() {
		b.enter(j)
	} else {
		j.NothingWanted()
		b.leave(j)
	}
}

func (b *book) enter(j *session.Job) {
	if _, in := b.at[j]; !in {
		b.at[j] = len(b.waiting)
		b.waiting = append(b.waiting, j)
	}
}

func (b *book) leave(j *session.Job) {
	i, in := b.at[j]
	if !in {
		return
	}
	last := len(b.waiting) - 1
	b.waiting[i] = b.waiting[last]
	b.at[b.waiting[i]] = i
	b.waiting[last] = nil
	b.waiting = b.waiting[:last]
	delete(b.at, j)
}

// stampQueues gives every queue that changed a new version.
func (b *book) stampQueues(s *session.Session) {
	for _, q := range s.Ledger.Queues {
		old := b.stamps[q]
		if old.version != 0 && old.gen == q.Gen && equal(old.deserved, q.Deserved) && equal(old.capacity, q.RealCapability) {
			continue
		}
		b.reclaim++
		b.stamps[q] = stamp{
			gen:      q.Gen,
			deserved: append(old.deserved[:0], q.Deserved...),
			capacity: append(old.capacity[:0], q.RealCapability...),
			version:  old.version + 1,
		}
	}
	s.ReclaimStamp = b.reclaim
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && math.Abs(a[i]-b[i]) > queue.Epsilon {
			return false
		}
	}
	return true
}

// wake fills the session: parked gangs stay out unless a node grew that could
// take one of their tasks, or their queue changed.
func (b *book) wake(s *session.Session) {
	helped := map[*model.Shape]bool{}
	for _, j := range b.waiting {
		if j.Parked && (b.stamps[j.In].version != j.QueueStamp && j.QueueBound() || s.View.Touched && b.nodesHelp(s, j, helped)) {
			j.Parked = false
		}
		if !j.Parked {
			j.Refresh(s)
			s.Ready = append(s.Ready, j)
		}
	}
	s.AllWaiting = b.waiting
	for j, at := range b.due {
		if !s.Now.Before(at) {
			delete(b.due, j)
			s.Touch(j)
		}
	}
}

// nodesHelp says whether a node that grew could take one of the job's tasks.
func (b *book) nodesHelp(s *session.Session, j *session.Job, helped map[*model.Shape]bool) bool {
	for _, shape := range j.ParkedShapes {
		help, known := helped[shape]
		if !known {
			help = s.NodesHelp(shape)
			helped[shape] = help
		}
		if help {
			return true
		}
	}
	return false
}

// settle parks what could not be placed.
func (b *book) settle(s *session.Session) {
	for _, j := range s.Touched {
		if j.Changed() {
			b.dirty = append(b.dirty, j)
		}
	}
	for _, j := range s.Ready {
		if !j.Wants() {
			b.leave(j)
			continue
		}
		j.Park(b.stamps[j.In].version)
	}
}
