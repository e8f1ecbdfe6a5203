package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/test/bench/figures"
)

const docs = "../../../docs"

// TestDocsAreMadeFromTheFigures fails if performance.md or performance.svg does not match performance.csv. To update
// them, run: go run ./test/bench/plot -keep docs </dev/null.
func TestDocsAreMadeFromTheFigures(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"performance.csv", "performance.md"} {
		data, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(strings.NewReader(""), io.Discard, dir, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"performance.csv", "performance.md", "performance.svg"} {
		want, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // of this test
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-made from performance.csv +there):\n%s", name, diff)
		}
	}
}

func TestFiguresOfARunTakeThePlaceOfOlderOnes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("performance.md", "before\n"+begin+"old\n"+end+"\nafter\n")
	write("performance.csv", "name,nodes,value,unit,lowest,highest,taken\n\""+figures.FirstBind+"\",500,90,ms,80,95,2026-11-20 01:00\nmine,0,1,s,1,1,2026-11-20 01:00\n\""+figures.SmallJobs+"\",0,0.1,,0.1,0.1,\n")
	output := "    bind_test.go:1: BENCH\t" + figures.FirstBind + "\t500\t40\tms\n" +
		"BENCH\t" + figures.FirstBind + "\t5000\t812.25\tms\t700\t900\nok\n"
	now := time.Date(2026, 11, 22, 2, 10, 30, 0, time.UTC)
	var shown bytes.Buffer
	if err := run(strings.NewReader(output), &shown, dir, now); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(shown.String(), output) || !strings.Contains(shown.String(), "812 ms                500      100  misses the floor") {
		t.Errorf("shown:\n%s", shown.String())
	}
	got, err := os.ReadFile(filepath.Join(dir, "performance.md")) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "performance.csv")) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{",500,40,ms,40,40,2026-11-22 02:10\n", ",5000,812.2,ms,700,900,2026-11-22 02:10\n", "mine,0,1,s,1,1,2026-11-20 01:00\n"} {
		if !strings.Contains(string(kept), row) {
			t.Errorf("no record %sin\n%s", row, kept)
		}
	}
	head := "before\n" + begin + "| What | any number of nodes | 500 nodes | 5,000 nodes | Floor | Aim |\n|---|---|---|---|---|---|\n"
	tail := "| mine (s) | 1 |  |  |  |  |\n" + end + "\nafter\n"
	if !strings.HasPrefix(string(got), head) || !strings.HasSuffix(string(got), tail) {
		t.Errorf("the table has not its place, or its head:\n%s", got)
	}
	for what, row := range map[string]string{
		"a line that was taken": "| " + figures.FirstBind + " (ms) |  | **40** | 812 (missed) | 500 | 100 |\n",
		"an excused line":       "| " + figures.SmallJobs + " | 0.1 (excused) |  |  | 0.5 | 0.8 |\n",
		"a line never taken":    "| " + figures.Memory + " (MiB) |  |  |  | 800 | 400 |\n",
	} {
		if !strings.Contains(string(got), row) {
			t.Errorf("%s: no row\n%sin\n%s", what, row, got)
		}
	}
}

func TestAChartIsAnImage(t *testing.T) {
	text := chart([]figures.Figure{
		{Name: "a & b < c", Nodes: 500, Value: 1}, {Name: "a & b < c", Nodes: 5000, Value: 12345, Unit: "ms"},
		{Name: "alone", Nodes: 1, Value: 1},
	})
	if strings.Contains(text, "alone") {
		t.Error("one figure is no growth")
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNoFigureIsAnError(t *testing.T) {
	for _, line := range []string{"BENCH\ta\tmany\t1\ts", "BENCH\ta\t1", "BENCH\ta\t1\tx\ts", "BENCH\ta\t1\t1\ts\tx\t1"} {
		if _, err := figures.Read(strings.NewReader(line), io.Discard); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}
