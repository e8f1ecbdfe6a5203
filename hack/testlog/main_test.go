package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSummaryPrintsALineAPackageAndFailuresLast(t *testing.T) {
	stream := `{"Action":"run","Package":"github.com/vc-batch/vc/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/vc-batch/vc/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"pass","Package":"github.com/vc-batch/vc/a","Test":"TestGood","Elapsed":9.9}
{"Action":"pass","Package":"github.com/vc-batch/vc/a","Test":"TestLong/part","Elapsed":11}
{"Action":"pass","Package":"github.com/vc-batch/vc/a","Test":"TestLong","Elapsed":11.4}
{"Action":"pass","Package":"github.com/vc-batch/vc/a","Test":"TestLonger","Elapsed":61}
{"Action":"output","Package":"github.com/vc-batch/vc/a","Test":"TestBad","Output":"    a_test.go:3: wrong\n"}
{"Action":"fail","Package":"github.com/vc-batch/vc/a","Test":"TestBad"}
{"Action":"output","Package":"github.com/vc-batch/vc/a","Test":"TestAway","Output":"    a_test.go:9: no tmux here\n"}
{"Action":"output","Package":"github.com/vc-batch/vc/a","Test":"TestAway","Output":"--- SKIP: TestAway (0.00s)\n"}
{"Action":"skip","Package":"github.com/vc-batch/vc/a","Test":"TestAway"}
{"Action":"output","Package":"github.com/vc-batch/vc/a","Test":"TestHangs","Output":"still here\n"}
{"Action":"output","Package":"github.com/vc-batch/vc/a","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"github.com/vc-batch/vc/a","Elapsed":1.5}
{"Action":"output","Package":"github.com/vc-batch/vc/b","Output":"?   \tb\t[no test files]\n"}
{"Action":"skip","Package":"github.com/vc-batch/vc/b"}
{"Action":"pass","Package":"github.com/vc-batch/vc/c","Elapsed":0.25}
{"Action":"build-output","ImportPath":"github.com/vc-batch/vc/d","Output":"d.go:1: undefined: x\n"}
{"Action":"build-fail","ImportPath":"github.com/vc-batch/vc/d"}
`
	var out strings.Builder
	s := newSummary(&out)
	s.readEvents(strings.NewReader(stream))
	s.printResult(2*time.Second, false)
	want := []string{
		"FAIL github.com/vc-batch/vc/a 1.500s",
		"ok github.com/vc-batch/vc/c 0.250s",
		"slow 61s: a TestLonger",
		"slow 11s: a TestLong",
		"skipped 1: no tmux here",
		"a_test.go:3: wrong",
		"still here",
		"panic: test timed out",
		"d.go:1: undefined: x",
		"2 packages, 1 failed",
		"FAIL github.com/vc-batch/vc 2.000s",
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if line := strings.TrimSpace(line); line != "" {
			fields := strings.Fields(line)
			got = append(got, strings.Join(fields, " "))
		}
	}
	for i := range want {
		want[i] = strings.Join(strings.Fields(want[i]), " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong summary (-want +got):\n%s", diff)
	}
}
