package job

import "github.com/vc-batch/vc/internal/tui/widget"

var _ widget.Tabled = (*Job)(nil)

// Tables are the screen's.
func (j *Job) Tables() []widget.Placed { return []widget.Placed{&j.pods} }
