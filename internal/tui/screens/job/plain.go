package job

import "github.com/vc-batch/vc/internal/tui/screenapi"

// plain implements those methods of widget.Rows that do not apply to lines of text: marking, sorting and choosing
// columns.
type plain struct{}

func (plain) Mark() {}

func (plain) Range() {}

func (plain) MarkAll() {}

func (plain) Escape() bool { return false }

func (plain) NextSort(*screenapi.Context) {}

func (plain) Reverse() {}

func (plain) Chooser(*screenapi.Context) []screenapi.Effect { return nil }
