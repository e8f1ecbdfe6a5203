package overview

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Overview)(nil)

// Tables returns the screen's tables.
func (o *Overview) Tables() []widget.Placed { return []widget.Placed{&o.jobs} }
