package queues

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Queues)(nil)

// Tables returns the screen's tables.
func (q *Queues) Tables() []widget.Placed { return []widget.Placed{&q.table} }
