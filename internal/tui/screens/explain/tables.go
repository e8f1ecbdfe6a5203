package explain

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Explain)(nil)

// Tables are the screen's.
func (e *Explain) Tables() []widget.Placed { return []widget.Placed{&e.nodes} }
