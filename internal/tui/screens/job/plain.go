package job

import "github.com/vc-batch/vc/internal/tui/screen"

// plain implements the methods of widget.Rows that do not apply to lines of text: marking, sorting, choosing columns.
type plain struct{}

func (plain) Mark() {}

func (plain) Range() {}

func (plain) MarkAll() {}

func (plain) Escape() bool { return false }

func (plain) NextSort(*screen.Context) {}

func (plain) Reverse() {}

func (plain) Chooser(*screen.Context) []screen.Effect { return nil }
