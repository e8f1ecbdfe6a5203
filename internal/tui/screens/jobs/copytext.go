package jobs

import (
	"bytes"
	"fmt"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Twin returns the visible rows as a text table, together with the filter.
func (j *Jobs) Twin(ctx *screenapi.Context) string {
	table := render.Table{Gap: 2}
	var cells []func(*screenapi.Context, jobrow.Row) (string, canvas.Style)
	for _, column := range jobrow.AllColumns() {
		if column.Hidden {
			continue
		}
		table.Header = append(table.Header, column.Title)
		cells = append(cells, column.Cell)
	}
	for _, row := range j.table.Rows() {
		texts := make([]string, len(cells))
		for i, cell := range cells {
			if texts[i], _ = cell(ctx, row); texts[i] == "" {
				texts[i] = "-"
			}
		}
		table.Rows = append(table.Rows, texts)
	}
	var text bytes.Buffer
	if j.filter != "" {
		fmt.Fprintf(&text, "%d of %d jobs: %s\n", j.shown, j.all, j.filter)
	}
	_ = table.Fprint(&text) // writing to a buffer cannot fail
	return text.String()
}
