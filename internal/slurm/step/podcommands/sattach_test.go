package podcommands_test

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/test/steptest"
)

// A viewer receives the recent and the following output of a step, even if the step writes to a file, and exits with
// the step's code.
func TestSattachShowsARunningStep(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, `#!/bin/bash
srun -Q -n2 -o none sh -c 'echo before; echo oops >&2; touch ready$SLURM_PROCID; until [ -e go ]; do sleep 0.01; done; printf "after"; exit $((SLURM_PROCID + 3))' &
until [ -e ready0 ] && [ -e ready1 ]; do sleep 0.01; done
sattach --layout 42.0
sattach -l 42.0 >first 2>first.err & one=$!
sattach --output-filter=1 42.0 >second 2>/dev/null & two=$!
until [ "$(grep -c before first)" = 2 ] && grep -q before second; do sleep 0.01; done
touch go
wait $one; echo "first $?"
wait $two; echo "second $?"
wait
sattach 42.0; echo "over $?"
`, func(p *steptest.Pod) { p.Spec.Tasks = 2 })
	want := "Job step layout:\n\t2 tasks, 1 nodes (t-head-0)\n\n\tNode 0 (t-head-0), 2 task(s): 0 1\nfirst 4\nsecond 4\nover 1\n"
	if diff := cmp.Diff(want, p.Out.String()); code != 0 || diff != "" {
		t.Errorf("code %d (-want +got):\n%s%s", code, diff, p.Err.String())
	}
	for file, want := range map[string][]string{
		"first": {"0: after", "0: before", "1: after", "1: before"}, "first.err": {"0: oops", "1: oops"}, "second": {"after", "before"},
	} {
		got := steptest.SortedLines(p.Read(file))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	steptest.RequireParts(t, p.Err.String(), "sattach: error: job step 42.0 not found: Invalid job id specified", "sattach: hint: run scontrol show step")
}

// The launcher exits only after viewers of its last step have seen the end of the step.
func TestSattachSeesTheEndOfTheLastStep(t *testing.T) {
	t.Parallel()
	p := steptest.NewPod(t, "#!/bin/bash\nexec srun -Q -n1 bash -c 'echo begin; touch ready; until [ -e go ]; do sleep 0.01; done; for i in $(seq 5000); do echo line $i; done; exit 3'\n").Start()
	p.Until("ready")
	watching := p.Program("sattach", "42.0")
	shown, err := watching.StdoutPipe()
	if err == nil {
		err = watching.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(shown)
	if first, err := lines.ReadString('\n'); first != "begin\n" {
		t.Fatalf("it begins with %q %v", first, err)
	}
	p.Write("go", "")
	text, _ := io.ReadAll(lines)
	_ = watching.Wait()
	p.Wait()
	if code := watching.ProcessState.ExitCode(); code != 3 || strings.Count(string(text), "\n") != 5000 {
		t.Errorf("sattach shows %d lines and ends with %d", strings.Count(string(text), "\n"), code)
	}
}

func TestSattachSaysWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                         "Did not supply a job step id",
		"42":                       "Invalid job id specified: 42",
		"42.batch":                 "Invalid job id specified: 42.batch",
		"43.0":                     "job 43 is not the current job (42)",
		"--pty 42.0":               "--pty is not supported here",
		"--input-filter=0 42.0":    "--input-filter is not supported here",
		"--output-filter=one 42.0": `Invalid numeric value "one" for --output-filter.`,
	} {
		p, code := steptest.Run(t, "#!/bin/bash\nsattach "+args+"\n")
		if code != 1 || !strings.Contains(p.Err.String(), "sattach: error: "+want) || !strings.Contains(p.Err.String(), "sattach: hint: ") {
			t.Errorf("%q: code %d\n%s", args, code, p.Err.String())
		}
	}
}
