package simnode

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseScript(t *testing.T) {
	t.Parallel()
	always := script{runMin: Never, runMax: Never, failRate: -1}
	with := func(change func(*script)) script { s := always; change(&s); return s }
	for name, c := range map[string]struct {
		annotations map[string]string
		want        script
		problems    []string // part of each problem, in order
	}{
		"a pod that says nothing runs until it is deleted": {nil, always, nil},
		"a run time alone ends the pod": {
			map[string]string{AnnotationRunTime: "30s"},
			with(func(s *script) { s.runMin, s.runMax = 30*time.Second, 30*time.Second }), nil},
		"a range of run times is kept as one": {
			map[string]string{AnnotationRunTime: "10s-1m"},
			with(func(s *script) { s.runMin, s.runMax = 10*time.Second, time.Minute }), nil},
		"an exit code without a run time ends the pod at once": {
			map[string]string{AnnotationExitCode: "3"},
			with(func(s *script) { s.runMin, s.runMax, s.exitCode = 0, 0, 3 }), nil},
		"a failure rate may be a percentage": {
			map[string]string{AnnotationFailureRate: "5%", AnnotationRunTime: "1s"},
			with(func(s *script) { s.runMin, s.runMax, s.failRate = time.Second, time.Second, 0.05 }), nil},
		"a pod may refuse to start": {
			map[string]string{AnnotationStartDelay: "never"}, with(func(s *script) { s.startDelay = Never }), nil},
		"stopping may take time": {
			map[string]string{AnnotationStopTime: "5s"}, with(func(s *script) { s.stopTime = 5 * time.Second }), nil},
		"what cannot be read is ignored and reported": {
			map[string]string{AnnotationRunTime: "soon", AnnotationExitCode: "256", AnnotationFailureRate: "1.5",
				AnnotationStartDelay: "-1s", AnnotationStopTime: "x"},
			always, []string{AnnotationStartDelay, AnnotationExitCode, AnnotationFailureRate, AnnotationRunTime, AnnotationStopTime}},
		"a bad run time beside an exit code leaves the pod running": {
			map[string]string{AnnotationRunTime: "60s-10s", AnnotationExitCode: "1"},
			with(func(s *script) { s.exitCode = 1 }), []string{`"60s-10s"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := parseScript(c.annotations, 0)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(script{})); diff != "" {
				t.Errorf("script (-want +got):\n%s", diff)
			}
			if len(problems) != len(c.problems) {
				t.Fatalf("problems: want %d, got %v", len(c.problems), problems)
			}
			for i, p := range problems {
				if !strings.Contains(p.String(), c.problems[i]) {
					t.Errorf("problem %d: want %s in it, got %s", i, c.problems[i], p)
				}
			}
		})
	}
}

func TestParseStart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"0s": 0, "500ms": time.Second / 2, "1h": time.Hour, "never": Never} {
		if delay, err := ParseStart(text); err != nil || delay != want {
			t.Errorf("%s: got %s, %v", text, delay, err)
		}
	}
	for _, text := range []string{"", "5", "-5s", "always"} {
		if _, err := ParseStart(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestFailuresAreDrawnAtTheirRate(t *testing.T) {
	t.Parallel()
	s := script{failRate: 0.2}
	const runs = 20000
	failed := 0
	for i := range runs {
		if s.exitCodeOfRun("7d0c1f1e-0000-0000-0000-000000000000", int32(i)) == 1 {
			failed++
		}
	}
	if share := float64(failed) / runs; math.Abs(share-0.2) > 0.02 {
		t.Errorf("want a share of 0.2 failed runs, got %.3f", share)
	}
}

func TestDrawsDependOnTheirArgumentsOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		uid, restarts := rapid.String().Draw(t, "uid"), rapid.Int32Min(0).Draw(t, "restarts")
		low := rapid.Int64Range(0, int64(time.Hour)).Draw(t, "low")
		high := rapid.Int64Range(low, int64(2*time.Hour)).Draw(t, "high")
		s := script{runMin: time.Duration(low), runMax: time.Duration(high), failRate: rapid.Float64Range(0, 1).Draw(t, "rate")}
		first, _ := s.lengthOfRun(uid, restarts)
		second, ok := s.lengthOfRun(uid, restarts)
		if !ok || first != second || first < s.runMin || first > s.runMax {
			t.Fatalf("run of %s to %s: %s, then %s", s.runMin, s.runMax, first, second)
		}
		if once, again := s.exitCodeOfRun(uid, restarts), s.exitCodeOfRun(uid, restarts); once != again {
			t.Fatal("two draws of the same run differ")
		}
	})
}

func FuzzParseScript(f *testing.F) {
	f.Add("30s", "1", "5%", "never", "5s")
	f.Add("10s-60s", "256", "NaN", "", "1e9h")
	f.Fuzz(func(t *testing.T, run, code, rate, start, stop string) {
		s, _ := parseScript(map[string]string{AnnotationRunTime: run, AnnotationExitCode: code,
			AnnotationFailureRate: rate, AnnotationStartDelay: start, AnnotationStopTime: stop}, 0)
		if s.runMin > s.runMax || s.exitCode < 0 || s.exitCode > 255 || !(s.failRate <= 1) || s.stopTime < 0 {
			t.Errorf("nonsense accepted: %+v", s)
		}
	})
}
