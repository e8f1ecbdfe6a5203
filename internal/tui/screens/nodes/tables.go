package nodes

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Nodes)(nil)

// Tables are the screen's.
func (n *Nodes) Tables() []widget.Placed { return []widget.Placed{&n.table, &n.pods} }
