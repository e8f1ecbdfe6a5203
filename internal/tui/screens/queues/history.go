package queues

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/snapshot"
)

// historyCells is the maximum number of cells in a history. When a history is full, each pair of cells is merged.
const historyCells = 60

// firstStep is the initial time span of a cell.
const firstStep = 5 * time.Second

// history records the resource use and the numbers of waiting jobs of all queues since the screen was opened.
type history struct {
	began time.Time
	step  time.Duration
	lines map[string]*line // by queue
}

// line is the history of one queue, with one value per time step.
type line struct {
	allocated map[corev1.ResourceName][]float64
	waiting   []float64
}

// recordNumbers records the current numbers.
func (h *history) recordNumbers(now time.Time, snap *snapshot.Snapshot) {
	if h.lines == nil {
		h.began, h.step, h.lines = now, firstStep, map[string]*line{}
	}
	for int(now.Sub(h.began)/h.step) >= historyCells {
		h.mergeCells()
	}
	cell := int(max(now.Sub(h.began), 0) / h.step)
	for _, q := range snap.Queues {
		l := h.lines[q.Name]
		if l == nil {
			l = &line{allocated: map[corev1.ResourceName][]float64{}}
			h.lines[q.Name] = l
		}
		l.waiting = writeCellValue(l.waiting, cell, float64(q.Waiting))
		for name := range q.Object.Status.Allocated {
			if _, ok := l.allocated[name]; !ok {
				l.allocated[name] = nil
			}
		}
		for name, values := range l.allocated {
			l.allocated[name] = writeCellValue(values, cell, float64(queueNumbers(q, name).Allocated))
		}
	}
}

// writeCellValue writes a value to a cell. The cells before it that have no value yet repeat the last value.
func writeCellValue(values []float64, cell int, value float64) []float64 {
	for len(values) <= cell {
		last := value
		if len(values) > 0 {
			last = values[len(values)-1]
		}
		values = append(values, last)
	}
	values[cell] = value
	return values
}

// mergeCells merges each pair of cells and keeps the later value.
func (h *history) mergeCells() {
	h.step *= 2
	half := func(values []float64) []float64 {
		var kept []float64
		for i := 0; i < len(values); i += 2 {
			kept = append(kept, values[min(i+1, len(values)-1)])
		}
		return kept
	}
	for _, l := range h.lines {
		l.waiting = half(l.waiting)
		for name, values := range l.allocated {
			l.allocated[name] = half(values)
		}
	}
}

// historyOfQueue returns the histories of a queue up to the time now.
func (h *history) historyOfQueue(queue string, name corev1.ResourceName, now time.Time) (allocated, waiting []float64) {
	l := h.lines[queue]
	if l == nil {
		return nil, nil
	}
	cell := min(int(max(now.Sub(h.began), 0)/h.step), historyCells-1)
	till := func(values []float64) []float64 {
		if len(values) == 0 {
			return nil
		}
		return writeCellValue(append([]float64(nil), values...), max(cell, len(values)-1), values[len(values)-1])
	}
	return till(l.allocated[name]), till(l.waiting)
}
