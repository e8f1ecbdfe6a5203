package widget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/propertytest"
)

type item struct{ name, group string }

func table(rows ...item) *Table[item] {
	t := &Table[item]{
		Columns: []Column[item]{{Key: "name", Title: "NAME", Width: 6, Cell: func(_ *screenapi.Context, i item) (string, canvas.Style) { return i.name, theme.Plain },
			Compare: func(a, b item) int { return strings.Compare(a.name, b.name) }}},
		ID: func(i item) string { return i.name },
	}
	t.SetRows(&screenapi.Context{}, rows, false)
	return t
}

func drawn(t *Table[item], lines int) string {
	look, _ := theme.New("mono", theme.NoColor, false)
	c := canvas.New(24, lines, false)
	t.Draw(&screenapi.Context{Snap: snapshot.EmptySnapshot(time.Time{}), Theme: look, W: 120}, c, "nothing")
	return c.Text()
}

func byGroup(i item) string { return i.group }

func size(name string, rows []item) string { return fmt.Sprintf("%s: %d", name, len(rows)) }

func TestRowsStandUnderTheLineOfTheirGroup(t *testing.T) {
	t.Parallel()
	rows := table(item{"a", "two"}, item{"b", "one"}, item{"c", "two"})
	rows.GroupRowsBy(byGroup, size)
	want := "  NAME\n one: 1\n▸ b\n two: 2\n  a\n  c\n"
	rows.Home()
	if diff := cmp.Diff(want, drawn(rows, 6)); diff != "" {
		t.Error(diff)
	}
	rows.End()
	want = "  NAME\n two: 2\n  a\n▸ c\n  · end of 3\n"
	if diff := cmp.Diff(want, drawn(rows, 5)); diff != "" {
		t.Error(diff)
	}
}

func TestANumberWithoutRoomIsInALargerUnit(t *testing.T) {
	t.Parallel()
	rows := table(item{"1429", ""})
	rows.Columns[0].Width, rows.Columns[0].Right = 3, true
	if diff := cmp.Diff("  NA…\n▸  1k\n", drawn(rows, 2)); diff != "" {
		t.Error(diff)
	}
}

func TestTheRowUnderTheCursorIsAlwaysDrawn(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 200, func(t *rapid.T) {
		var items []item
		for i := range rapid.IntRange(1, 30).Draw(t, "rows") {
			items = append(items, item{fmt.Sprintf("r%d", i), fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "group"))})
		}
		rows := table(items...)
		if rapid.Bool().Draw(t, "grouped") {
			rows.GroupRowsBy(byGroup, size)
		}
		lines := rapid.IntRange(4, 20).Draw(t, "lines")
		drawn(rows, lines)
		for range 10 {
			rows.Move(rapid.IntRange(-8, 8).Draw(t, "move"))
			at, _ := rows.Selected()
			if text := drawn(rows, lines); !strings.Contains(text, "▸ "+at.name+"\n") {
				t.Fatalf("%s is not drawn in %d lines:\n%s", at.name, lines, text)
			}
		}
	})
}

func TestTheCursorStaysOnItsRowWhenOthersCome(t *testing.T) {
	t.Parallel()
	rows := table(item{name: "b"}, item{name: "d"})
	rows.SortBy("name")
	rows.Select("d")
	rows.SetRows(&screenapi.Context{}, []item{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}, false)
	if at, _ := rows.Selected(); at.name != "d" {
		t.Errorf("the cursor went to %s", at.name)
	}
}

// TestTheCursorIsOnTheFirstRowUntilTheUserMovesIt: the first row of an incomplete list is not the user's choice, but a
// row that the user moved to is.
func TestTheCursorIsOnTheFirstRowUntilTheUserMovesIt(t *testing.T) {
	loading, live := &screenapi.Context{Snap: snapshot.EmptySnapshot(time.Time{})}, &screenapi.Context{Snap: &snapshot.Snapshot{Connection: snapshot.Connection{Link: snapshot.LinkLive}}}
	few, all := []item{{name: "m"}, {name: "z"}}, []item{{name: "a"}, {name: "m"}, {name: "z"}}
	for name, test := range map[string]struct {
		first *screenapi.Context
		moves int
		want  string
	}{
		"loading":           {loading, 0, "a"},
		"loading and moved": {loading, 1, "z"},
		"live":              {live, 0, "m"},
	} {
		rows := table()
		rows.SetRows(test.first, few, true)
		rows.SetRows(test.first, few, true)
		if test.moves > 0 {
			rows.Move(test.moves)
		}
		rows.SortBy("name")
		rows.SetRows(live, all, true)
		if row, _ := rows.Selected(); row.name != test.want {
			t.Errorf("%s: the cursor is on %s, not on %s", name, row.name, test.want)
		}
		rows.SetRows(live, []item{{name: "0"}, all[0], all[1], all[2]}, true)
		if row, _ := rows.Selected(); row.name != test.want {
			t.Errorf("%s: once live, the cursor leaves its row %s for %s", name, test.want, row.name)
		}
	}
}
