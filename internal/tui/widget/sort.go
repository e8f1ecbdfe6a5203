package widget

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// sortKey is a column that the user sorts by. descending is the current direction.
type sortKey struct {
	column     string
	descending bool
}

// mostSortKeys is the maximum number of columns that determine the order of rows.
const mostSortKeys = 3

// SortBy sorts by the specified column first, and then by the columns that were chosen before. If the rows are already
// sorted by this column first, SortBy reverses its direction. An empty key restores the default order.
func (t *Table[R]) SortBy(key string) {
	column := t.sortableColumn(key)
	switch {
	case key == "":
		t.order = nil
	case column == nil:
		return
	case len(t.order) > 0 && t.order[0].column == key:
		t.order[0].descending = !t.order[0].descending
	default:
		others := slices.DeleteFunc(t.order, func(k sortKey) bool { return k.column == key })
		t.order = append([]sortKey{{key, column.Descending}}, others[:min(len(others), mostSortKeys-1)]...)
	}
	t.orderSerial++
	t.arrangeRows()
}

// sortableColumn returns the column with the specified key, or nil if rows cannot be sorted by it.
func (t *Table[R]) sortableColumn(key string) *Column[R] {
	for i := range t.Columns {
		if t.Columns[i].Key == key && t.Columns[i].Compare != nil {
			return &t.Columns[i]
		}
	}
	return nil
}

// compareFunction returns the function that orders the rows: the columns that the user chose, then the default order.
// It returns nil if the rows keep their order.
func (t *Table[R]) compareFunction() func(a, b R) int {
	if len(t.order) == 0 {
		return t.Default
	}
	order := slices.Clone(t.order)
	columns := make([]*Column[R], len(order))
	for i, k := range order {
		columns[i] = t.sortableColumn(k.column)
	}
	return func(a, b R) int {
		for i, k := range order {
			way := columns[i].Compare(a, b)
			if k.descending {
				way = -way
			}
			if way != 0 {
				return way
			}
		}
		if t.Default == nil {
			return 0
		}
		return t.Default(a, b)
	}
}

// Order is an order of rows. Serial changes whenever the order of a table changes.
type Order[R any] struct {
	Serial  int
	Compare func(a, b R) int
}

// CurrentOrder returns the order of the rows, by group and then within each group. Compare is nil if the rows keep
// their order.
func (t *Table[R]) CurrentOrder() Order[R] {
	order := Order[R]{Serial: t.orderSerial, Compare: t.compareFunction()}
	if of, inGroup := t.grouping.of, order.Compare; of != nil && inGroup != nil {
		order.Compare = func(a, b R) int { return cmp.Or(cmp.Compare(of(a), of(b)), inGroup(a, b)) }
	}
	return order
}

// isArranged reports whether the rows are in order already.
func (t *Table[R]) isArranged(compare func(a, b R) int) bool {
	of, group := t.grouping.of, ""
	for i, row := range t.rows {
		before := group
		if of != nil {
			group = of(row)
		}
		switch {
		case i == 0:
		case group < before:
			return false
		case group == before && compare != nil && compare(t.rows[i-1], row) > 0:
			return false
		}
	}
	return true
}

// SortNote describes the sort order, for example "queue, -priority".
func (t *Table[R]) SortNote() string {
	if len(t.order) == 0 {
		return t.DefaultSort
	}
	names := make([]string, len(t.order))
	for i, k := range t.order {
		names[i] = strings.ToLower(k.column)
		if k.descending {
			names[i] = "-" + names[i]
		}
	}
	return strings.Join(names, ", ")
}

// SortMenu returns the effect that lets the user choose a column to sort by.
func (t *Table[R]) SortMenu(ctx *screenapi.Context) []screenapi.Effect {
	ctx = t.contextOfMenu(ctx)
	choices := []screenapi.Choice{{Title: "default order", On: len(t.order) == 0}}
	keys := []string{""}
	for i := range t.Columns {
		column := &t.Columns[i]
		if column.Compare == nil || !t.isColumnShown(ctx, column) {
			continue
		}
		isFirst := len(t.order) > 0 && t.order[0].column == column.Key
		title := cmp.Or(column.Title, column.Key)
		if isFirst {
			title += " (again to reverse)"
		}
		choices, keys = append(choices, screenapi.Choice{Title: title, On: isFirst}), append(keys, column.Key)
	}
	return []screenapi.Effect{screenapi.Choose{Title: "Sort by", Choices: choices, One: true, Then: func(ticked []bool) []screenapi.Effect {
		t.SortBy(keys[slices.Index(ticked, true)])
		return nil
	}}}
}

// SortKeys returns a key for each column that has a Letter. of returns the current table, or nil. A letter that is
// already used by one of the screen's other keys is left out.
func SortKeys[R any](name string, of func(screenapi.Screen) Rows, columns []Column[R], used []screenapi.Binding) []screenapi.Binding {
	var keys []screenapi.Binding
	for i := range columns {
		column := &columns[i]
		isUsed := slices.ContainsFunc(used, func(b screenapi.Binding) bool { return slices.Contains(b.KeysWithAliases(), column.Letter) })
		if column.Letter == "" || column.Compare == nil || isUsed {
			continue
		}
		title := strings.ToLower(cmp.Or(column.Title, column.Key))
		keys = append(keys, screenapi.Binding{
			Screen: name, Key: column.Letter, Name: "sort " + strings.ToLower(column.Key), Help: "sort by " + title + ", then by the previous order; repeat to reverse",
			Do: rowsOf(of).change(func(r Rows) { r.SortBy(column.Key) }),
		})
	}
	return keys
}
