package explain

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Explain)(nil)

// Tables returns the screen's tables.
func (e *Explain) Tables() []widget.Placed { return []widget.Placed{&e.nodes} }
