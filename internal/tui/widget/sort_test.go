package widget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

func TestSortingByASecondColumnKeepsTheFirstForEqualRows(t *testing.T) {
	t.Parallel()
	rows := sortTable()
	order := func() string {
		var names []string
		for _, row := range rows.Rows() {
			names = append(names, row.name)
		}
		return strings.Join(names, " ")
	}
	for _, step := range []struct{ key, want, note string }{
		{"", "b d a c", "tree"},
		{"name", "a b c d", "name"},
		{"size", "b d a c", "-size, name"},
		{"name", "a b c d", "name, -size"},
		{"name", "d c b a", "-name, -size"},
		{"size", "d b c a", "-size, -name"},
		{"unknown", "d b c a", "-size, -name"},
		{"", "b d a c", "tree"},
	} {
		rows.SortBy(step.key)
		if order() != step.want || rows.SortNote() != step.note {
			t.Errorf("sorted by %q: %s (%s), want %s (%s)", step.key, order(), rows.SortNote(), step.want, step.note)
		}
	}
}

func TestTheHeadShowsTheSortDirection(t *testing.T) {
	t.Parallel()
	ctx := headContext(t, 100)
	rows := sortTable()
	rows.SortBy("name")
	rows.SortBy("size")
	head, _, _ := strings.Cut(rows.Text(ctx, 40, ""), "\n")
	if want := "  NAME↑     SIZE↓"; strings.TrimRight(head, " ") != want {
		t.Errorf("the head is %q, want %q", head, want)
	}
}

// sortTable returns a table with two sizes, ordered b, d, a, c by default.
func sortTable() *Table[sized] {
	name := func(_ *screenapi.Context, s sized) (string, canvas.Style) { return s.name, theme.Plain }
	size := func(_ *screenapi.Context, s sized) (string, canvas.Style) { return fmt.Sprint(s.size), theme.Plain }
	rows := &Table[sized]{
		Columns: []Column[sized]{
			{Key: "name", Title: "NAME", Width: 8, Cell: name, Compare: func(a, b sized) int { return strings.Compare(a.name, b.name) }},
			{Key: "size", Title: "SIZE", Width: 6, Right: true, Descending: true, Cell: size, Compare: func(a, b sized) int { return cmp.Compare(a.size, b.size) }},
		},
		ID: func(s sized) string { return s.name }, Default: func(a, b sized) int { return cmp.Compare(a.place, b.place) }, DefaultSort: "tree",
	}
	rows.SetRows(&screenapi.Context{}, []sized{{"a", 1, 3}, {"b", 2, 1}, {"c", 1, 4}, {"d", 2, 2}}, false)
	return rows
}

type sized struct {
	name        string
	size, place int
}

func TestAColumnWithoutAnyValueIsNotDrawnUnlessTheUserChoseIt(t *testing.T) {
	t.Parallel()
	ctx := headContext(t, 100)
	rows := sortTable()
	rows.Columns[1].Empty = func(s sized) bool { return s.size == 0 }
	head := func(width int) string {
		text, _, _ := strings.Cut(rows.Text(ctx, width, ""), "\n")
		return strings.TrimRight(text, " ")
	}
	if got := head(40); got != "  NAME       SIZE" {
		t.Errorf("with values: %q", got)
	}
	rows.SetRows(ctx, []sized{{"a", 0, 1}, {"b", 0, 2}}, false)
	if got := head(40); got != "  NAME" {
		t.Errorf("without values: %q", got)
	}
	rows.SetRows(ctx, []sized{{"a", 0, 1}, {"b", 7, 2}}, false)
	if got := head(40); got != "  NAME       SIZE" {
		t.Errorf("with one value: %q", got)
	}
	rows.SetRows(ctx, []sized{{"a", 0, 1}}, false)
	rows.chosen = map[string]bool{"size": true}
	if got := head(40); got != "  NAME       SIZE" {
		t.Errorf("chosen: %q", got)
	}
}

func TestColumnsGrowOnlyIntoWidthThatTheFlexibleColumnCanSpare(t *testing.T) {
	t.Parallel()
	rows := sortTable()
	rows.Columns[0].Most = 20
	rows.Columns = append(rows.Columns, Column[sized]{Key: "note", Title: "NOTE", Width: 10, Flex: true, Cell: rows.Columns[0].Cell})
	for width, want := range map[int][]int{60: {8, 6, 42}, 70: {12, 6, 48}, 78: {20, 6, 48}, 100: {20, 6, 70}} {
		var got []int
		for _, p := range rows.layOutColumns(headContext(t, 100), width) {
			got = append(got, p.w)
		}
		if !slices.Equal(got, want) {
			t.Errorf("width %d: %v, want %v", width, got, want)
		}
	}
}

func headContext(t *testing.T, width int) *screenapi.Context {
	t.Helper()
	look, err := theme.New("dark", theme.NoColor, false)
	if err != nil {
		t.Fatal(err)
	}
	return &screenapi.Context{W: width, Theme: look}
}
