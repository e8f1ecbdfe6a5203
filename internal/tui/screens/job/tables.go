package job

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Job)(nil)

// Tables returns the screen's tables.
func (j *Job) Tables() []widget.Placed { return []widget.Placed{&j.pods} }
