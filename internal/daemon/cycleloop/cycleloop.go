// Package cycleloop contains the steps of the scheduler's loop: apply the changes, decide, assume the decisions, and hand
// them over. It waits for nothing. The daemon decides when to take a step, and so does a simulation.
//
//	In:   deltas from a Source; the time of each step
//	Out:  decisions, handed to Effects
//
// # Concurrency
//
// A Loop belongs to one goroutine.
package cycleloop

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Source supplies the deltas. The feed implements it.
type Source interface {
	Signal() <-chan struct{}
	Drain(spare []model.Delta) []model.Delta
}

// Decider makes the decisions. The engine implements it. The decisions are a pure function of time and model.
type Decider interface {
	Cycle(now time.Time, c *model.Cluster) decision.Decisions
}

// Effects receives the decisions. The outbox implements it.
type Effects interface {
	Put(d *decision.Decisions)
}

// Bounds of the coalescing window: changes that arrive within it are handled in one cycle. The window grows with the
// duration of a cycle, so that cycles never take more than about a third of the total time. It also grows, up to
// windowDull, while a stream of changes leads to no decisions, for example while the pods of a gang are created one by
// one.
const (
	windowMin  = 2 * time.Millisecond
	windowDull = 16 * time.Millisecond
	windowMax  = 50 * time.Millisecond
)

// Loop receives changes and produces decisions. All exported fields must be set.
type Loop struct {
	Source  Source
	Effects Effects
	Engine  Decider
	Cluster *model.Cluster
	Period  time.Duration // maximum time between two cycles

	spare  []model.Delta
	window time.Duration // next coalescing window, without the part that depends on the duration of a cycle
	wake   time.Time     // when the engine wants to run again even if nothing changes
}

// RunCycle applies the changes, makes decisions, assumes them in the model, and hands them over. It returns the
// decisions and the number of changes.
func (l *Loop) RunCycle(now time.Time) (d decision.Decisions, changes int) {
	select {
	case <-l.Source.Signal(): // drained below
	default:
	}
	deltas := l.Source.Drain(l.spare)
	l.Cluster.Apply(deltas...)
	d = l.Engine.Cycle(now, l.Cluster)
	decision.Assume(l.Cluster, &d)
	l.Effects.Put(&d)
	l.window = nextWindow(l.window, len(deltas) > 0 && d.IsEmpty())
	l.wake = d.WakeAt
	l.spare = deltas[:0]
	return d, len(deltas)
}

// LongestPause returns the time until the next cycle if nothing changes before that.
func (l *Loop) LongestPause(now time.Time) time.Duration {
	if l.wake.IsZero() {
		return l.Period
	}
	return max(0, min(l.Period, l.wake.Sub(now)))
}

// CoalescingWindow returns the time from a change to the next cycle. took is the duration of the last cycle.
func (l *Loop) CoalescingWindow(took time.Duration) time.Duration {
	return min(max(l.window, 3*took), windowMax)
}

// nextWindow doubles the window while changes lead to no decisions (dull), and resets it otherwise.
func nextWindow(window time.Duration, dull bool) time.Duration {
	if !dull {
		return windowMin
	}
	return min(max(2*window, windowMin), windowDull)
}
