package widget

import (
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Column is a column of a Table.
type Column[R any] struct {
	// Key is the name for sorting and choosing. Title is the heading.
	Key, Title string
	// Width is the width in cells. Narrow is the width in terminals below 100 columns; 0 means Width.
	Width, Narrow int
	// Flex gets the remaining width, at least Width. One column has it.
	Flex bool
	// Right aligns to the right, for numbers.
	Right bool
	// From and Below limit the terminal widths in which the column is shown: From ≤ W and W < Below; 0 means no limit.
	// A chosen column is shown at any width.
	From, Below int
	// Hidden omits the column until it is chosen.
	Hidden bool
	// Cell returns the cell's text. Draw replaces Cell for content other than text.
	Cell func(*screenapi.Context, R) (string, canvas.Style)
	Draw func(*screenapi.Context, R, canvas.Canvas)
	// Ticks means that the column changes with the clock, so its changes are not highlighted.
	Ticks bool
	// Compare orders rows by the column. Nil means that sorting by it is not possible.
	Compare func(a, b R) int
	// Descending sorts in descending order first.
	Descending bool
}

// shown reports whether a column is drawn.
func (t *Table[R]) shown(ctx *screenapi.Context, column *Column[R]) bool {
	if chosen, ok := t.chosen[column.Key]; ok {
		return chosen
	}
	return !column.Hidden && ctx.W >= column.From && (column.Below == 0 || ctx.W < column.Below)
}

// placedColumn is a column with its position and width.
type placedColumn struct {
	index, x, w int
}

// layout assigns cells to the columns. Columns that do not fit are omitted from the right, except for the first.
func (t *Table[R]) layout(ctx *screenapi.Context, width int) []placedColumn {
	var all []placedColumn
	used, flex := t.gutter(), -1
	for i := range t.Columns {
		column := &t.Columns[i]
		if !t.shown(ctx, column) {
			continue
		}
		w := column.Width
		if ctx.W < 100 && column.Narrow > 0 {
			w = column.Narrow
		}
		if column.Flex {
			flex = len(all)
		}
		all = append(all, placedColumn{index: i, w: w})
		used += w + 1
	}
	used-- // no gap after the last column
	for used > width && len(all) > 1 {
		last := len(all) - 1
		if last == flex {
			last--
			flex--
		}
		if last < 1 {
			break
		}
		used -= all[last].w + 1
		all = append(all[:last], all[last+1:]...)
	}
	if flex >= 0 && flex < len(all) {
		all[flex].w = max(all[flex].w+width-used, 1)
	}
	x := t.gutter()
	for i := range all {
		all[i].x = x
		x += all[i].w + 1
	}
	return all
}

func (t *Table[R]) gutter() int { return 2 }

// Chooser returns the effect that lets the user choose columns.
func (t *Table[R]) Chooser(ctx *screenapi.Context) []screenapi.Effect {
	choices := make([]screenapi.Choice, len(t.Columns))
	for i := range t.Columns {
		column := &t.Columns[i]
		title := column.Title
		if title == "" {
			title = column.Key
		}
		choices[i] = screenapi.Choice{Title: title, On: t.shown(ctx, column), Fixed: i == 0}
	}
	return []screenapi.Effect{screenapi.Choose{Title: "Columns", Choices: choices, Then: func(ticked []bool) []screenapi.Effect {
		for i, on := range ticked {
			if on != choices[i].On {
				if t.chosen == nil {
					t.chosen = map[string]bool{}
				}
				t.chosen[t.Columns[i].Key] = on
			}
		}
		return nil
	}}}
}
