package queues

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Queues)(nil)

// Tables are the screen's.
func (q *Queues) Tables() []widget.Placed { return []widget.Placed{&q.table} }
