package widget

import "github.com/vc-batch/vc/internal/tui/screenapi"

// NoTable implements those methods of Rows that do not apply to lines of text: marking, sorting and choosing columns.
type NoTable struct{}

// Mark does nothing.
func (NoTable) Mark() {}

// Range does nothing.
func (NoTable) Range() {}

// MarkAll does nothing.
func (NoTable) MarkAll() {}

// Escape reports that there are no marks.
func (NoTable) Escape() bool { return false }

// SortBy does nothing.
func (NoTable) SortBy(string) {}

// SortMenu does nothing.
func (NoTable) SortMenu(*screenapi.Context) []screenapi.Effect { return nil }

// Chooser does nothing.
func (NoTable) Chooser(*screenapi.Context) []screenapi.Effect { return nil }
