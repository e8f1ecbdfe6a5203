package node

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/room"
)

// maxNodeColumns is up to how many nodes get a column each; more get a row each.
const maxNodeColumns = 8

// spare are the columns that a row a node may do without.
var spare = []string{"MEMORY", "CPU", "IDLE MEMORY", "IDLE CPU", "DEVICES"}

// nodeGap is the number of blanks between the columns of the node table.
const nodeGap = 5

// Table is the demo's picture of rooms: a column a node, or a row a node when there are
// many or the terminal, of width cells, is too narrow. Width 0 is never too narrow.
func Table(rooms []room.Room, width int) render.Table {
	if table, fits := columnsOf(rooms, width); fits {
		return table
	}
	table := rowsOf(rooms)
	table.MaxWidth = width
	table.CanSpare(spare...)
	return table
}

// columnsOf is a table of a column a node; fits says whether that is a good one.
func columnsOf(rooms []room.Room, width int) (table render.Table, fits bool) {
	if len(rooms) > maxNodeColumns {
		return table, false
	}
	names := room.Devices(rooms)
	table = render.Table{Header: []string{""}, Gap: nodeGap, FirstGap: render.DefaultGap}
	for i := range rooms {
		table.Header = append(table.Header, rooms[i].Name)
	}
	lines := func(title string, of func(*room.Room) *room.Amounts, known bool) {
		first, second := []string{title}, []string{""}
		for i := range rooms {
			a := of(&rooms[i])
			first = append(first, "cpu: "+orUnknown(known, rooms[i].Unknown, milliText(a.MilliCPU)))
			second = append(second, "mem: "+orUnknown(known, rooms[i].Unknown, kibText(a.MemoryBytes)))
		}
		table.Rows = append(table.Rows, first, second)
		for _, name := range names {
			row := []string{""}
			for i := range rooms {
				row = append(row, fmt.Sprintf("%s: %s", cli.ShortResource(name), orUnknown(known, rooms[i].Unknown, strconv.FormatInt(of(&rooms[i]).Devices[name], 10))))
			}
			table.Rows = append(table.Rows, row)
		}
	}
	lines("Allocatable", func(r *room.Room) *room.Amounts { return &r.Has }, true)
	lines("Idle", func(r *room.Room) *room.Amounts { return &r.Idle }, false)
	widest, total := 0, 0
	for i, column := range table.Widths() {
		if i > 0 {
			widest = max(widest, column)
		}
		total += column + nodeGap
	}
	table.MinWidths = []int{0}
	for range rooms {
		table.MinWidths = append(table.MinWidths, widest)
	}
	return table, width == 0 || total-nodeGap <= width
}

// orUnknown is text, unless that is of what is idle and nobody knows.
func orUnknown(always, unknown bool, text string) string {
	if unknown && !always {
		return "?"
	}
	return text
}

func rowsOf(rooms []room.Room) render.Table {
	names := room.Devices(rooms)
	table := render.Table{Header: []string{"NAME", "STATUS", "CPU", "IDLE CPU", "MEMORY", "IDLE MEMORY"}}
	for _, name := range names {
		title := strings.ToUpper(cli.ShortResource(name))
		table.Header = append(table.Header, title, "IDLE "+title)
	}
	for i := range rooms {
		r := &rooms[i]
		row := []string{r.Name, r.Status, render.Cores(r.Has.MilliCPU), render.Cores(r.Idle.MilliCPU), render.Memory(r.Has.MemoryBytes), render.Memory(r.Idle.MemoryBytes)}
		for _, name := range names {
			row = append(row, countOf(r.Has, name), countOf(r.Idle, name))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func countOf(a room.Amounts, name corev1.ResourceName) string {
	return strconv.FormatInt(a.Devices[name], 10)
}
