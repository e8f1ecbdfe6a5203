package job

import "github.com/vc-batch/vc/internal/tui/screen"

// plain is what widget.Rows can do and lines of text cannot: marking, sorting, choosing columns.
type plain struct{}

func (plain) Mark() {}

func (plain) Range() {}

func (plain) MarkAll() {}

func (plain) Escape() bool { return false }

func (plain) NextSort(*screen.Context) {}

func (plain) Reverse() {}

func (plain) Chooser(*screen.Context) []screen.Effect { return nil }
