package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/test/bench/figures"
)

const docs = "../../../docs"

// TestDocsAreMadeFromTheFigures fails when performance.md or performance.svg is not
// what performance.csv gives: go run ./test/bench/plot -keep docs </dev/null.
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
	if err := run(strings.NewReader(""), io.Discard, dir); err != nil {
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
	write("performance.csv", "name,nodes,value,unit,lowest,highest\n\""+figures.FirstBind+"\",500,90,ms,80,95\nmine,7,1,s,1,1\n")
	output := "    bind_test.go:1: BENCH\t" + figures.FirstBind + "\t500\t40\tms\n" +
		"BENCH\t" + figures.FirstBind + "\t5000\t812.25\tms\t700\t900\nok\n"
	var shown bytes.Buffer
	if err := run(strings.NewReader(output), &shown, dir); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(shown.String(), output) || !strings.Contains(shown.String(), "812 ms                500      100  misses the floor") {
		t.Errorf("shown:\n%s", shown.String())
	}
	got, err := os.ReadFile(filepath.Join(dir, "performance.md")) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + begin +
		"| What | 7 nodes | 500 nodes | 5,000 nodes | Floor | Aim |\n|---|---|---|---|---|---|\n" +
		"| " + figures.FirstBind + " (ms) |  | **40** | 812 | 500 | 100 |\n" +
		"| mine (s) | 1 |  |  |  |  |\n" + end + "\nafter\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
