package overview

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Overview)(nil)

// Tables are the screen's.
func (o *Overview) Tables() []widget.Placed { return []widget.Placed{&o.jobs} }
