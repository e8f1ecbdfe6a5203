// Package history records how much of each resource is allocated, idle and requested by waiting jobs, and how many jobs
// wait in each queue, since the dashboard started.
//
//	In:   current values
//	Out:  values over time, one per time step
//
// Pure.
package history

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// MostCells is the maximum number of cells in a history. When a history is full, each pair of cells is merged.
const MostCells = 120

// firstStep is the initial time span of a cell.
const firstStep = 5 * time.Second

// recordEvery is the minimum time between two records, because the sum over all nodes and jobs takes time.
const recordEvery = time.Second

// Kind is what a series measures.
type Kind string

// The kinds of series. Pending is the request of jobs that wait for their first node. Waiting is the number of waiting
// pod groups of a queue.
const (
	Allocated Kind = "allocated"
	Pending   Kind = "pending"
	Idle      Kind = "idle"
	Waiting   Kind = "waiting"
)

// Series identifies a series of values: one kind, of a resource, in a queue. An empty Queue is the whole cluster.
// Waiting has no resource.
type Series struct {
	Kind     Kind
	Queue    string
	Resource corev1.ResourceName
}

// History holds one value per time step for each series. Amounts are in milli-CPU, bytes or units. A zero History is
// empty and ready for use.
type History struct {
	began, last time.Time
	step        time.Duration
	values      map[Series][]float64
}

// IsDue reports whether the last record is long enough ago for another one.
func (h *History) IsDue(now time.Time) bool { return h.values == nil || now.Sub(h.last) >= recordEvery }

// Record records the current values. now must not decrease from call to call.
func (h *History) Record(now time.Time, values map[Series]float64) {
	if h.values == nil {
		h.began, h.step, h.values = now, firstStep, map[Series][]float64{}
	}
	h.last = now
	for int(now.Sub(h.began)/h.step) >= MostCells {
		h.mergeCells()
	}
	cell := h.cellAt(now)
	for of, value := range values {
		h.write(cell, of, value)
	}
}

func (h *History) cellAt(now time.Time) int {
	return min(int(max(now.Sub(h.began), 0)/h.step), MostCells-1)
}

// write writes a value to a cell. The cells before it that have no value yet repeat the last value.
func (h *History) write(cell int, of Series, value float64) {
	values := h.values[of]
	if len(values) == 0 {
		values = []float64{value}
	}
	values = extend(values, cell)
	values[cell] = value
	h.values[of] = values
}

// extend repeats the last value up to a cell.
func extend(values []float64, cell int) []float64 {
	for len(values) <= cell {
		values = append(values, values[len(values)-1])
	}
	return values
}

// mergeCells merges each pair of cells and keeps the later value.
func (h *History) mergeCells() {
	h.step *= 2
	for of, values := range h.values {
		var kept []float64
		for i := 0; i < len(values); i += 2 {
			kept = append(kept, values[min(i+1, len(values)-1)])
		}
		h.values[of] = kept
	}
}

// Values returns the values of a series up to the time now, the oldest first, or nil if nothing is recorded.
func (h *History) Values(of Series, now time.Time) []float64 {
	if h == nil || len(h.values[of]) == 0 {
		return nil
	}
	values := slices.Clone(h.values[of])
	return extend(values, max(h.cellAt(now), len(values)-1))
}

// Step returns the time span of a cell.
func (h *History) Step() time.Duration {
	if h == nil {
		return firstStep
	}
	return max(h.step, firstStep)
}

// Began returns the time of the first record; it is zero if nothing is recorded.
func (h *History) Began() time.Time {
	if h == nil {
		return time.Time{}
	}
	return h.began
}
