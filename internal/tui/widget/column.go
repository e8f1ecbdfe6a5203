package widget

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Column is a column of a Table.
type Column[R any] struct {
	// Key is the name of the column for sorting and choosing columns. Title is its heading.
	Key, Title string
	// Width is the width in cells. Narrow is the width on terminals with less than 100 columns; it defaults to Width.
	Width, Narrow int
	// Flex gives the remaining width to this column, but at least Width. Only one column has it.
	Flex bool
	// Right aligns the text to the right, for example for numbers.
	Right bool
	// From and Below limit the terminal widths at which the column is shown: From ≤ W and W < Below. 0 means no
	// limit. A column that the user has chosen is shown at any width.
	From, Below int
	// Hidden hides the column until the user chooses it.
	Hidden bool
	// Cell returns the cell's text. Draw is set instead of Cell for contents other than text.
	Cell func(*screenapi.Context, R) (string, canvas.Style)
	Draw func(*screenapi.Context, R, canvas.Canvas)
	// Ticks is true if the column changes with the clock. Its changes are not highlighted.
	Ticks bool
	// Compare orders rows by the column. It is nil if rows cannot be sorted by it.
	Compare func(a, b R) int
	// Empty reports whether the cell of a row has no value; nil means that every row has one. If no row has a value, the
	// column is not drawn unless the user has chosen it.
	Empty func(R) bool
	// Most is the width to which the column grows on terminals that have free width; it defaults to Width.
	Most int
	// Least is the width that a flexible column gets before other columns grow; if it is 0, the default applies.
	Least int
	// Drawing is true for a bar, which compact mode does not show.
	Drawing bool
	// Descending makes the descending order the first one when sorting by the column.
	Descending bool
	// Letter is the key that sorts by the column, an uppercase letter, or "".
	Letter string
}

// isColumnShown reports whether a column is drawn.
func (t *Table[R]) isColumnShown(ctx *screenapi.Context, column *Column[R]) bool {
	if chosen, ok := t.chosen[column.Key]; ok {
		return chosen
	}
	if column.Drawing && ctx.Compact {
		return false
	}
	if column.Hidden || t.isColumnEmpty(column) {
		return false
	}
	isTooWide := column.Below != 0 && ctx.W >= column.Below
	return ctx.W >= column.From && !isTooWide
}

// isColumnEmpty reports whether no row has a value in a column. A table without rows has no empty columns.
func (t *Table[R]) isColumnEmpty(column *Column[R]) bool {
	if column.Empty == nil || len(t.rows) == 0 {
		return false
	}
	empty, known := t.empty[column.Key]
	if known {
		return empty
	}
	empty = !slices.ContainsFunc(t.rows, func(row R) bool { return !column.Empty(row) })
	if t.empty == nil {
		t.empty = map[string]bool{}
	}
	t.empty[column.Key] = empty
	return empty
}

// placedColumn is a column with its position and width.
type placedColumn struct {
	index, x, w int
}

// leastFlex is the width that the flexible column gets before other columns grow, unless the column has a Least.
const leastFlex = 48

// layOutColumns determines the positions and widths of the columns. If not all fit, it omits columns from the right,
// but never the first.
func (t *Table[R]) layOutColumns(ctx *screenapi.Context, width int) []placedColumn {
	var all []placedColumn
	used, flex := t.gutterWidth(), -1
	for i := range t.Columns {
		column := &t.Columns[i]
		if !t.isColumnShown(ctx, column) {
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
		free := all[flex].w + width - used // all of it goes to the flexible column, unless others grow
		for i := range all {
			most := t.Columns[all[i].index].Most
			grown := max(min(most-all[i].w, free-cmp.Or(t.Columns[all[flex].index].Least, leastFlex)), 0)
			all[i].w += grown
			free -= grown
		}
		all[flex].w = max(free, 1)
	}
	x := t.gutterWidth()
	for i := range all {
		all[i].x = x
		x += all[i].w + 1
	}
	return all
}

func (t *Table[R]) gutterWidth() int { return 2 }

// contextOfMenu returns the context with the width for which the table was drawn, which is smaller than that of the
// terminal beside another panel.
func (t *Table[R]) contextOfMenu(ctx *screenapi.Context) *screenapi.Context {
	if t.width == 0 {
		return ctx
	}
	drawn := *ctx
	drawn.W = t.width
	return &drawn
}

// Chooser returns the effect that lets the user choose columns.
func (t *Table[R]) Chooser(ctx *screenapi.Context) []screenapi.Effect {
	ctx = t.contextOfMenu(ctx)
	choices := make([]screenapi.Choice, len(t.Columns))
	for i := range t.Columns {
		column := &t.Columns[i]
		title := column.Title
		title = cmp.Or(title, column.Key)
		choices[i] = screenapi.Choice{Title: title, On: t.isColumnShown(ctx, column), Fixed: i == 0}
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
