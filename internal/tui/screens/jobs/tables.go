package jobs

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Jobs)(nil)

// Tables returns the screen's tables.
func (j *Jobs) Tables() []widget.Placed { return []widget.Placed{&j.table} }
