package nodes

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Nodes)(nil)

// Tables returns the screen's tables.
func (n *Nodes) Tables() []widget.Placed { return []widget.Placed{&n.table, &n.pods} }
