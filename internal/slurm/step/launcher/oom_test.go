package launcher_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/slurm/step/signals"
	"github.com/vc-batch/vc/test/steptest"
)

// Processes that the kernel killed are reported once: by the step in which they were killed or else by the script,
// which then ended for lack of memory.
func TestKilledProcessesAreReportedAsSlurmReportsThem(t *testing.T) {
	t.Parallel()
	const step = "slurmstepd: error: Detected 1 oom_kill event in StepId=42.0."
	const task = "srun: error: t-head-0: task 0: Out Of Memory"
	const script = "slurmstepd: error: Detected 2 oom_kill events in StepId=42.batch."
	for name, c := range map[string]struct {
		script string
		code   int
		signal int
		want   []string
	}{
		"in a step":                     {"srun -n1 sh -c 'echo oom_kill 1 >counter'\n", 253, 0, []string{step, task}},
		"in one step of two":            {"srun -n1 sh -c 'echo oom_kill 1 >counter'\nsrun -n1 true\n", 0, 0, []string{step, task}},
		"in the script, which went on":  {"echo oom_kill 2 >counter\n", 253, 125, []string{script}},
		"before the script":             {"true\n", 0, 0, nil},
		"in a step and then the script": {"srun -n1 sh -c 'echo oom_kill 1 >counter'\necho oom_kill 3 >counter\nexit 3\n", 253, 125, []string{step, task, script}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, "#!/bin/sh\n"+c.script, func(p *steptest.Pod) {
				p.Env = append(p.Env, steptest.EnvOOMCounter+"="+filepath.Join(p.Dir, "counter"))
				if err := os.WriteFile(filepath.Join(p.Dir, "counter"), []byte("oom_kill 0\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			})
			if code != c.code || p.Report().Signal != c.signal || strings.Count(p.Err.String(), "error: ") != len(c.want) {
				t.Errorf("code %d, signal %d\n%s", code, p.Report().Signal, p.Err.String())
			}
			for _, line := range c.want {
				if !strings.Contains(p.Err.String(), line) {
					t.Errorf("%q is missing:\n%s", line, p.Err.String())
				}
			}
		})
	}
}

// The record of a step reports that its memory was used up, even if one of its tasks ended for another reason.
func TestAStepWithoutMemoryIsRecordedAsSuch(t *testing.T) {
	t.Parallel()
	p, _ := steptest.Run(t, "#!/bin/sh\nsrun -n2 sh -c '[ $SLURM_PROCID = 0 ] && kill -9 $$; echo oom_kill 1 >counter'\nexit 0\n", func(p *steptest.Pod) {
		p.Env = append(p.Env, steptest.EnvOOMCounter+"="+filepath.Join(p.Dir, "counter"))
		p.Write("counter", "oom_kill 0\n")
	})
	if steps := p.Report().Steps; len(steps) != 1 || steps[0].Signal != signals.NoMemory || steps[0].Code != 0 {
		t.Errorf("%+v\n%s", steps, p.Err.String())
	}
}
