package node

import (
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/render"
)

// spare lists the columns that may be omitted on a narrow terminal, the least important first.
var spare = []string{"MEMORY", "CPU", "IDLE MEMORY", "IDLE CPU", "DEVICES"}

// NewListTable returns the table of `node list` without its wide columns, for a terminal of width columns. A width of 0
// means unlimited.
func NewListTable(rooms []nodecapacity.Room, width int) render.Table {
	table := render.Table{Header: []string{"NAME", "STATUS", "CPU", "IDLE CPU", "MEMORY", "IDLE MEMORY", "DEVICES"}, MaxWidth: width}
	table.SetSpareColumns(spare...)
	for i := range rooms {
		r := &rooms[i]
		table.Rows = append(table.Rows, []string{r.Name, r.Status, render.FormatCores(r.Has.MilliCPU), render.FormatCores(r.Idle.MilliCPU),
			render.FormatMemory(r.Has.MemoryBytes), render.FormatMemory(r.Idle.MemoryBytes), devicesText(r.Idle, r.Has, r.Unknown)})
	}
	return table
}

// textOrUnknown returns text, or a question mark if the user has no access to the pods from which idle amounts are
// computed.
func textOrUnknown(always, unknown bool, text string) string {
	if unknown && !always {
		return "?"
	}
	return text
}
