package render

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		table Table
		want  string
	}{
		"columns are as wide as their widest cell, three blanks apart": {
			table: Table{Header: []string{"NAME", "PHASE", "AGE"}, Rows: [][]string{{"train", "Running", "5m"}, {"a", "", "1s"}}},
			want:  "NAME    PHASE     AGE\ntrain   Running   5m\na                 1s\n",
		},
		"no header leaves the rows": {
			table: Table{Header: []string{"NAME", "AGE"}, NoHeader: true, Rows: [][]string{{"a", "1s"}}},
			want:  "a   1s\n",
		},
		"an empty table without a header prints nothing": {
			table: Table{Header: []string{"NAME"}, NoHeader: true},
			want:  "",
		},
		"a narrow terminal shortens the last column only": {
			table: Table{Header: []string{"NAME", "REASON"}, FreeText: true, MaxWidth: 20, Rows: [][]string{{"train", "not enough of everything"}}},
			want:  "NAME    REASON\ntrain   not enough…\n",
		},
		"a wide rune takes two cells": {
			table: Table{Header: []string{"NAME", "AGE"}, Rows: [][]string{{"训练", "1s"}, {"abcde", "2s"}}},
			want:  "NAME    AGE\n训练    1s\nabcde   2s\n",
		},
		"a line break inside a cell does not tear the row": {
			table: Table{Header: []string{"NAME", "REASON"}, Rows: [][]string{{"a", "one\ntwo"}}},
			want:  "NAME   REASON\na      one two\n",
		},
		"minimal widths hold": {
			table: Table{NoHeader: true, MinWidths: []int{8, 3}, Rows: [][]string{{"a", "1s"}}},
			want:  "a          1s\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := tc.table.Fprint(&out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShortenNeverExceedsItsWidth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab训é 🚀"))).Draw(t, "text")
		width := rapid.IntRange(1, 20).Draw(t, "width")
		if got := Width(Shorten(text, width)); got > width {
			t.Fatalf("Shorten(%q, %d) takes %d cells", text, width, got)
		}
	})
}

func TestBar(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		used, total float64
		fancy       bool
		want        string
	}{
		"half":                    {1, 2, false, "####...."},
		"nothing":                 {0, 2, false, "........"},
		"all":                     {2, 2, false, "########"},
		"more than there is":      {3, 2, false, "#######>"},
		"no total":                {3, 0, false, "........"},
		"half with blocks":        {1, 2, true, "████░░░░"},
		"an eighth of two blocks": {1, 32, true, "▎░░░░░░░"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := FormatBar(tc.used, tc.total, 8, tc.fancy); got != tc.want {
				t.Errorf("Bar = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAgeOfNoTimeIsUnknown(t *testing.T) {
	t.Parallel()
	if got := FormatAgeSince(time.Unix(100, 0), time.Time{}); got != "<unknown>" {
		t.Errorf("Age = %q", got)
	}
	if got := FormatAgeSince(time.Unix(400, 0), time.Unix(100, 0)); got != "5m" {
		t.Errorf("Age = %q", got)
	}
}

func BenchmarkTable10000Rows(b *testing.B) {
	table := Table{Header: []string{"NAME", "PHASE", "AGE", "REASON"}}
	for i := range 10000 {
		table.Rows = append(table.Rows, []string{fmt.Sprintf("job-%d", i), "Running", "5m", "-"})
	}
	for b.Loop() {
		var out bytes.Buffer
		if err := table.Fprint(&out); err != nil {
			b.Fatal(err)
		}
	}
}
