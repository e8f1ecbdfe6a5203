package widget

import "github.com/vc-batch/vc/internal/tui/screenapi"

// rowsOf returns the current table of a screen, or nil.
type rowsOf func(screenapi.Screen) Rows

// change returns what a key does that only changes the table.
func (of rowsOf) change(what func(Rows)) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
	return of.do(func(rows Rows, _ *screenapi.Context) []screenapi.Effect { what(rows); return nil })
}

// do returns what a key does that may have effects beyond the table.
func (of rowsOf) do(what func(Rows, *screenapi.Context) []screenapi.Effect) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
	return func(ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
		if rows := of(s); rows != nil {
			return what(rows, ctx)
		}
		return nil
	}
}

// TextKeys returns the keys that scroll a text or move the cursor of a table. of returns the current text or table, or nil.
func TextKeys(name string, of func(screenapi.Screen) Rows) []screenapi.Binding {
	plain := rowsOf(of).change
	return []screenapi.Binding{
		{Screen: name, Key: "up", Also: []string{"k"}, Name: "up", Help: "move up one row or line", Do: plain(func(r Rows) { r.Move(-1) })},
		{Screen: name, Key: "down", Also: []string{"j"}, Name: "down", Help: "move down one row or line", Do: plain(func(r Rows) { r.Move(1) })},
		{Screen: name, Key: "pgup", Also: []string{"ctrl+b"}, Name: "page up", Help: "move up one page", Do: plain(func(r Rows) { r.Page(-1) })},
		{Screen: name, Key: "pgdown", Also: []string{"ctrl+f"}, Name: "page down", Help: "move down one page", Do: plain(func(r Rows) { r.Page(1) })},
		{Screen: name, Key: "home", Name: "first", Help: "go to the first row", Do: plain(Rows.Home)},
		{Screen: name, Key: "end", Also: []string{"G"}, Name: "last", Help: "go to the last row", Do: plain(Rows.End)},
	}
}

// RowKeys returns the keys that all tables have. of returns the current table, or nil.
func RowKeys(name string, of func(screenapi.Screen) Rows) []screenapi.Binding {
	do := rowsOf(of).do
	return append(TextKeys(name, of),
		screenapi.Binding{Screen: name, Key: "S", Name: "sort", Help: "choose the column to sort by; choose it again to reverse the order", Footer: 40, Do: do(Rows.SortMenu)},
		ColumnsKey(name, of),
	)
}

// ColumnsKey returns the key that opens the menu of columns.
func ColumnsKey(name string, of func(screenapi.Screen) Rows) screenapi.Binding {
	return screenapi.Binding{Screen: name, Key: "c", Name: "columns", Help: "choose the visible columns", Footer: 41, Do: rowsOf(of).do(Rows.Chooser)}
}

// FirstRowKey returns the key "g" for tables that cannot be grouped.
func FirstRowKey(name string, of func(screenapi.Screen) Rows) screenapi.Binding {
	return screenapi.Binding{Screen: name, Key: "g", Name: "top", Help: "go to the first row; on some screens, g groups rows", Do: rowsOf(of).change(Rows.Home)}
}

// MarkKeys returns the keys for tables whose rows can be marked.
func MarkKeys(name string, of func(screenapi.Screen) Rows) []screenapi.Binding {
	do := rowsOf(of).change
	return []screenapi.Binding{
		{Screen: name, Key: "space", Name: "mark", Help: "mark or unmark the row; actions then apply to all marked rows", Footer: 42, Do: do(Rows.Mark)},
		{Screen: name, Key: "v", Name: "range", Help: "start or end a range of marked rows", Do: do(Rows.Range)},
		{Screen: name, Key: "ctrl+a", Name: "mark all", Help: "mark all visible rows", Do: do(Rows.MarkAll)},
	}
}
