package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func TestNarrowTable(t *testing.T) {
	t.Parallel()
	const reason = "not enough of everything there is"
	full := func(width int) Table {
		table := Table{Header: []string{"NAME", "QUEUE", "GPU", "AGE", "REASON"}, FreeText: true, MaxWidth: width,
			Rows: [][]string{{"train", "research", "-", "5m", reason}, {"eval", "default", "-", "1h", "-"}}}
		table.SetSpareColumns("AGE", "GPU", "QUEUE")
		return table
	}
	cases := map[string]struct {
		width int
		want  string
	}{
		"a line that fits keeps all":                                  {width: 67, want: "NAME    QUEUE      GPU   AGE   REASON\n"},
		"what says nothing goes first, and only as much as must":      {width: 60, want: "NAME    QUEUE      AGE   REASON\n"},
		"then what can be spared, until there is room for the reason": {width: 44, want: "NAME    QUEUE      REASON\n"},
		"what fits in the end comes back":                             {width: 40, want: "NAME    AGE   REASON\n"},
		"what cannot be spared stays":                                 {width: 10, want: "NAME    REASON\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			table := full(tc.width)
			if err := table.Fprint(&out); err != nil {
				t.Fatal(err)
			}
			title, _, _ := strings.Cut(out.String(), "\n")
			if diff := cmp.Diff(tc.want, title+"\n"); diff != "" {
				t.Errorf("titles (-want +got):\n%s", diff)
			}
		})
	}
}

// For any table, a line is too long only if the columns that must stay are too wide on their own.
func TestNarrowTableFits(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 1000, func(t *rapid.T) {
		cell := rapid.SampledFrom([]string{"-", "", "0", "a", "some", "much longer", "训练"})
		columns := rapid.IntRange(2, 6).Draw(t, "columns")
		table := Table{FreeText: rapid.Bool().Draw(t, "free text"), MaxWidth: rapid.IntRange(1, 80).Draw(t, "width")}
		for i := range columns {
			table.Header = append(table.Header, string(rune('A'+i)))
			if i > 0 && i < columns-1 && rapid.Bool().Draw(t, "spare") {
				table.Spare = append(table.Spare, i)
			}
		}
		for range rapid.IntRange(1, 4).Draw(t, "rows") {
			table.Rows = append(table.Rows, rapid.SliceOfN(cell, columns, columns).Draw(t, "row"))
		}
		least, widths := 0, table.ColumnWidths()
		for i, width := range widths {
			switch {
			case table.FreeText && i == columns-1:
				least += min(width, leastFreeText)
			case i == columns-1:
				least += width
			case !slices.Contains(table.Spare, i):
				least += width + DefaultGap
			}
		}
		var out bytes.Buffer
		most := max(table.MaxWidth, least)
		if err := table.Fprint(&out); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimRight(line, "\n"); Width(line) > most {
				t.Fatalf("%d cells, want %d at most: %q", Width(line), most, line)
			}
		}
	})
}
