package launcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/launcher"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/test/steptest"
)

func TestTheScriptRunsOnceWithItsArgumentsAndItsCode(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/sh\necho \"$1|$2|$GREETING|$SLURM_JOB_ID|$(pwd)\"\necho problem >&2\nexit 3\n", func(p *steptest.Pod) {
		p.Spec.Args = []string{"a", "b c"}
		p.Write(filepath.Join(launchconfig.SecretVolume, launchconfig.EnvironmentKey), "GREETING=hi\x00")
	})
	if code != 3 || p.Out.String() != "a|b c|hi|42|"+p.Dir+"\n" || p.Err.String() != "problem\n" {
		t.Errorf("%d\n%s%s", code, p.Out.String(), p.Err.String())
	}
	if r := p.Report(); r.Code != 3 || r.Signal != 0 {
		t.Errorf("%+v", r)
	}
}

func TestHowAScriptEndsIsTheContainersCode(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		script string
		code   int
		says   string
	}{
		"a signal is 128 and more":         {"#!/bin/sh\nkill -9 $$\n", 137, ""},
		"an interpreter that is not there": {"#!/no/such/shell\n", 1, "slurmstepd: error: execve(): bad interpreter(/no/such/shell): No such file or directory"},
		"a command that is not there":      {"#!/bin/sh\nnosuchcommand\n", 127, "nosuchcommand"},
		"234 asks for no requeue":          {"#!/bin/sh\nexit 234\n", 1, ""},
		"235 is no cancellation":           {"#!/bin/sh\nexit 235\n", 1, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, c.script)
			if code != c.code || !strings.Contains(p.Err.String(), c.says) {
				t.Errorf("%d %s", code, p.Err.String())
			}
			if own, is := strings.CutPrefix(c.script, "#!/bin/sh\nexit "); is && strconv.Itoa(p.Report().Code) != strings.TrimSpace(own) {
				t.Errorf("the report says %d", p.Report().Code)
			}
		})
	}
}

func TestOutputGoesToTheFileAndToTheLog(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change   func(*steptest.Pod)
		out, err string // names of the files
		wantOut  string
		wantErr  string
	}{
		"one file by two names":     {func(p *steptest.Pod) { p.Spec.Output, p.Spec.Error = "o", p.Dir+"/./o" }, "o", "", "out\nerr\n", ""},
		"both in one file":          {func(p *steptest.Pod) { p.Spec.Output = "slurm-%j.out" }, "slurm-42.out", "", "out\nerr\n", ""},
		"apart":                     {func(p *steptest.Pod) { p.Spec.Output, p.Spec.Error = "o", "e-%x" }, "o", "e-test", "out\n", "err\n"},
		"both called the same":      {func(p *steptest.Pod) { p.Spec.Output, p.Spec.Error = "o-%j", "o-42" }, "o-42", "", "out\nerr\n", ""},
		"only the errors in a file": {func(p *steptest.Pod) { p.Spec.Error = "e" }, "", "e", "", "err\n"},
		"truncated unless appended": {func(p *steptest.Pod) { p.Write("o", "old\n"); p.Spec.Output = "o" }, "o", "", "out\nerr\n", ""},
		"appended":                  {func(p *steptest.Pod) { p.Write("o", "old\n"); p.Spec.Output, p.Spec.Append = "o", true }, "o", "", "old\nout\nerr\n", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, "#!/bin/sh\necho out; sleep 0.1; echo err >&2\n", c.change)
			logged := p.Out.String() == "out\n" && p.Err.String() == "err\n"
			if c.err == "" { // one descriptor for both streams
				logged = p.Out.String() == "out\nerr\n" && p.Err.String() == ""
			}
			if code != 0 || !logged {
				t.Errorf("the log has %q and %q (%d)", p.Out.String(), p.Err.String(), code)
			}
			if c.out != "" && p.Read(c.out) != c.wantOut {
				t.Errorf("%s has %q, want %q", c.out, p.Read(c.out), c.wantOut)
			}
			if c.err != "" && p.Read(c.err) != c.wantErr {
				t.Errorf("%s has %q, want %q", c.err, p.Read(c.err), c.wantErr)
			}
		})
	}
}

// As in Slurm, a file for both streams preserves the order of a script's output.
func TestBothStreamsOfAScriptStayInOrderInOneFile(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/bash\nfor i in $(seq 300); do echo $i; echo $i >&2; done\n", func(p *steptest.Pod) { p.Spec.Output = "o" })
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintf(&want, "%d\n%d\n", i+1, i+1)
	}
	if diff := cmp.Diff(want.String(), p.Read("o")); code != 0 || diff != "" {
		t.Errorf("code %d (-want +got):\n%s", code, diff)
	}
}

func TestOutputFileThatCannotBeOpenedIsReported(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/sh\ntouch ran\n", func(p *steptest.Pod) { p.Spec.Output = "/no/such/dir/%j.out" })
	if code != 1 || p.Err.String() != "slurmstepd: error: Could not open stdout file /no/such/dir/42.out: No such file or directory\n" || p.Read("ran") != "" {
		t.Errorf("%d %s", code, p.Err.String())
	}
}

func TestInputAndWorkingDirectory(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/sh\nread x; echo \"$x $(pwd)\"\n", func(p *steptest.Pod) {
		p.Write("in-42", "typed\n")
		p.Spec.Input = filepath.Join(p.Dir, "in-%j")
		p.Spec.WorkDir = "/no/such/dir"
	})
	if code != 0 || p.Out.String() != "typed /tmp\n" || !strings.Contains(p.Err.String(), "couldn't chdir to `/no/such/dir': No such file or directory: going to /tmp instead") {
		t.Errorf("%d %s%s", code, p.Out.String(), p.Err.String())
	}
}

func TestASignalComesBeforeTheTimeLimit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		signal launchconfig.Signal
		script string
	}{
		"to the script alone": {launchconfig.Signal{Number: int(syscall.SIGUSR1), Seconds: 3599, Batch: true}, "#!/bin/bash\nexec 9<> <(:)\ntrap 'echo caught; exit 7' USR1\nwhile :; do read -t 1 -u 9; done\n"},
		"to the steps":        {launchconfig.Signal{Number: int(syscall.SIGUSR1), Seconds: 3599}, "#!/bin/bash\nsrun -n1 bash -c \"exec 9<> <(:); trap 'echo caught; exit 7' USR1; while :; do read -t 1 -u 9; done\"\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, c.script, func(p *steptest.Pod) { p.Spec.TimeLimit, p.Spec.Signal = 3600, &c.signal })
			if code != 7 || p.Out.String() != "caught\n" {
				t.Errorf("%d %s%s", code, p.Out.String(), p.Err.String())
			}
		})
	}
}

// scontrol update gives a running job a shorter limit: its signal is sent earlier, and squeue shows the new limit.
func TestTheSignalFollowsAShorterLimit(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/bash\nexec 9<> <(:)\ntrap 'squeue -h -o %l; exit 7' USR1\nvc-step limit soon; vc-step limit 60\nwhile :; do read -t 1 -u 9; done\n", func(p *steptest.Pod) {
		p.Spec.TimeLimit, p.Spec.Signal = 3600, &launchconfig.Signal{Number: int(syscall.SIGUSR1), Seconds: 60, Batch: true}
	})
	if code != 7 || p.Out.String() != "1:00\n" || !strings.Contains(p.Err.String(), `"soon" is not a valid number of seconds`) {
		t.Errorf("%d %s%s", code, p.Out.String(), p.Err.String())
	}
}

// --signal=B:USR1@5 sends the signal five seconds before the end, according to the job's own clock.
func TestTheSignalOfFiveSecondsLeavesFiveSeconds(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/bash\nexec 9<> <(:)\ntrap 'echo $((SLURM_JOB_END_TIME - $(date +%s))); exit 7' USR1\nwhile :; do read -t 1 -u 9; done\n", func(p *steptest.Pod) {
		p.Spec.TimeLimit, p.Spec.Signal = 10, &launchconfig.Signal{Number: int(syscall.SIGUSR1), Seconds: 5, Batch: true}
	})
	if left, err := strconv.Atoi(strings.TrimSpace(p.Out.String())); code != 7 || err != nil || left < 1 || left > 5 { // fewer on a busy machine
		t.Errorf("%d, with %q seconds left\n%s", code, p.Out.String(), p.Err.String())
	}
}

// A signal can be due before the script has started, if its limit is short or the start takes long.
func TestASignalThatIsDueAtTheStartIsNotLost(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/sh\nsleep 60\n", func(p *steptest.Pod) {
		p.Spec.TimeLimit, p.Spec.Signal = 5, &launchconfig.Signal{Number: int(syscall.SIGUSR1), Seconds: 60, Batch: true}
	})
	if want := 128 + int(syscall.SIGUSR1); code != want {
		t.Errorf("code %d, want %d\n%s", code, want, p.Err.String())
	}
}

func TestAScriptSetsItsTrapsBeforeASignalThatIsDueAtTheStart(t *testing.T) {
	t.Parallel()
	_, code := steptest.Run(t, "#!/bin/bash\nexec 9<> <(:)\ntrap 'exit 7' USR1\nwhile :; do read -t 1 -u 9; done\n", func(p *steptest.Pod) {
		p.Spec.TimeLimit, p.Spec.Signal = 20, &launchconfig.Signal{Number: int(syscall.SIGUSR1), Seconds: 60, Batch: true}
	})
	if code != 7 {
		t.Errorf("code %d, want 7 from the trap", code)
	}
}

func TestAPodThatGoesAwayAsksTheScriptToEnd(t *testing.T) {
	t.Parallel()
	p := steptest.NewPod(t, "#!/bin/bash\ntrap 'echo cleaned up; exit 5' TERM\n: > begun\nwhile :; do :; done\n") // bash may report the end of a child
	p.Spec.Output = "o"
	p.Start()
	p.Until("begun")
	_ = p.Cmd.Process.Signal(syscall.SIGTERM)
	if code := p.Wait(); code != 5 || p.Out.String() != "cleaned up\n" || !strings.Contains(p.Err.String(), "slurmstepd: error: *** JOB 42 ON t-head-0 CANCELLED AT 20") {
		t.Errorf("%d %s%s", code, p.Out.String(), p.Err.String())
	}
	steptest.RequireParts(t, p.Read("o"), "CANCELLED AT", "cleaned up")
}

func TestAJobCanBeRequeuedAndCancelledFromInside(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		Command string
		code    int
		says    string
	}{
		"requeue":      {"scontrol requeue $SLURM_JOB_ID", launchconfig.ExitRequeue, "DUE TO JOB REQUEUE"},
		"cancel":       {"scancel $SLURM_JOB_ID", launchconfig.ExitCancelled, "*** JOB 42 ON t-head-0 CANCELLED"},
		"another job":  {"scancel 43; exit 9", 9, "job 43 is not the current job (42)"},
		"said aloud":   {"scancel -v $SLURM_JOB_ID", launchconfig.ExitCancelled, "scancel: Terminating job 42"},
		"a signal":     {"trap 'exit 7' USR1; scancel -v -b --signal=SIGUSR1 42; while :; do sleep 0.01; done", 7, "scancel: Signal USR1 to job 42"},
		"what is not":  {"scontrol suspend 42; exit 9", 9, "is not supported inside a job"},
		"bad signal":   {"scancel -s NOSUCH 42; exit 9", 9, "Unknown job signal: NOSUCH"},
		"no step":      {"scancel 42.7; exit 9", 9, "Invalid job id specified"},
		"nothing said": {"scancel; exit 9", 9, "No job identification provided"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, "#!/bin/sh\n"+c.Command+"\nsleep 60\n")
			if code != c.code || !strings.Contains(p.Err.String(), c.says) {
				t.Errorf("%d %s", code, p.Err.String())
			}
		})
	}
}

func TestCommandsThatEndTheirOwnCallerReturnFirst(t *testing.T) {
	t.Parallel()
	const returned = "returned 0\n"
	inStep := func(command string) string {
		return "srun -n2 sh -c '[ $SLURM_PROCID = 0 ] || exec sleep 60; " + command + "; echo returned $?; sleep 60'"
	}
	cases := map[string]struct {
		script string
		code   int
		out    string
	}{
		"requeue of the script":            {"scontrol requeue $SLURM_JOB_ID; echo returned $?; sleep 60", launchconfig.ExitRequeue, returned},
		"cancellation of the script":       {"scancel $SLURM_JOB_ID; echo returned $?; sleep 60", launchconfig.ExitCancelled, returned},
		"requeue from a step":              {inStep("scontrol requeue $SLURM_JOB_ID"), launchconfig.ExitRequeue, returned},
		"cancellation from a step":         {inStep("scancel $SLURM_JOB_ID"), launchconfig.ExitCancelled, returned},
		"cancellation of the own step":     {inStep("scancel $SLURM_JOB_ID.0"), 143, returned},
		"a signal to all steps":            {inStep("scancel -s USR1 $SLURM_JOB_ID"), 138, returned},
		"a signal that cannot be caught":   {inStep("scancel -f -s KILL $SLURM_JOB_ID"), 137, returned},
		"a step that is not there":         {"scancel $SLURM_JOB_ID.7; echo returned $?", 0, "returned 1\n"},
		"a requeue before the script ends": {"scontrol requeue $SLURM_JOB_ID; echo returned $?", launchconfig.ExitRequeue, returned},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, "#!/bin/bash\n"+c.script+"\n")
			if code != c.code || p.Out.String() != c.out {
				t.Errorf("exit %d, want %d\n%s%s", code, c.code, p.Out.String(), p.Err.String())
			}
		})
	}
}

func TestAJobThatIsNeverRunAgainCannotBeRequeuedFromInside(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/sh\nscontrol show job | grep -o 'Requeue=0 Restarts=[0-9]* BatchFlag=.'\nscontrol requeue $SLURM_JOB_ID || exit 9\n", func(p *steptest.Pod) { p.Spec.NoRequeue = true })
	if code != 9 || p.Out.String() != "Requeue=0 Restarts=0 BatchFlag=1\n" || !strings.Contains(p.Err.String(), "Requested operation is presently disabled for job 42: it was submitted with --no-requeue") {
		t.Errorf("%d %s%s", code, p.Out.String(), p.Err.String())
	}
}

func TestScriptsOfLoginShellsFindSrun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, own, want string }{
		"with -l":                     {"#!/bin/bash -l", "", "found\n"},
		"with more letters":           {"#!/usr/bin/bash -eul", "", "found\n"},
		"with --login":                {"#!/bin/bash --login", "", "found\n"},
		"by env":                      {"#!/usr/bin/env -S bash -l", "", "found\n"},
		"of sh":                       {"#!/bin/sh -l", "", "found\n"},
		"of sh with a profile":        {"#!/bin/sh -l", ".profile", "theirs\nfound\n"},
		"of sh by env":                {"#!/usr/bin/env -S sh -el", "", "found\n"},
		"with a start file of theirs": {"#!/bin/bash -l", "mine", "theirs\ntheirs\nfound mine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, c.first+"\ncase $HOME in *login-home) echo the home is $HOME;; esac\nbash -c 'srun -n1 echo found $BASH_ENV'\n", func(p *steptest.Pod) {
				p.Env = append(p.Env, "HOME="+p.Dir)
				if c.own != "" {
					p.Write(c.own, "echo theirs\n")
				}
				if c.own == "mine" {
					p.Env = append(p.Env, "BASH_ENV="+c.own)
				}
			})
			if code != 0 || p.Out.String() != c.want {
				t.Errorf("%d %q %s", code, p.Out.String(), p.Err.String())
			}
		})
	}
	for _, script := range []string{"#!/bin/bash\n# -l\n", "#!/bin/sh\n", "#!/bin/ls -l bash\n", "#!/usr/bin/env python3 -l\n", "#!/bin/bash -e\n", ""} {
		if launcher.LoginShell(script) != "" {
			t.Errorf("%q is taken for one of a login shell", script)
		}
	}
}

func TestWhatAScriptLeavesBehindEndsWithIt(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/bash\n(sleep 61; touch lived) &\nsrun -n1 sleep 62 &\nwhile ! squeue -h >/dev/null || [ \"$(scontrol show job | grep -c JobId)\" = 0 ]; do :; done\nexit 0\n")
	if code != 0 {
		t.Errorf("%d %s", code, p.Err.String())
	}
	for _, seconds := range []string{"61", "62"} {
		if sleepers(t, p.Dir, seconds) {
			t.Errorf("sleep %s goes on", seconds)
		}
	}
}

// sleepers reports whether a sleep of the script keeps running. It identifies the process by the pod's directory in
// its environment.
func sleepers(t *testing.T, dir, seconds string) bool {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		found := false
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range all {
			line, _ := os.ReadFile(path)
			env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
			found = found || string(line) == "sleep\x00"+seconds+"\x00" && strings.Contains(string(env), dir)
		}
		if !found {
			return false
		}
	}
	return true
}

func TestAnInteractiveAllocationEndsWithItsSession(t *testing.T) {
	t.Parallel()
	p := steptest.NewPod(t, "")
	p.Spec.Interactive = true
	p.Start()
	p.Until("tools/run/agent.sock")
	session := p.Program("session", "sh", "-c", "echo $SLURM_JOB_ID; srun -n2 echo task; exit 6")
	out, _ := session.CombinedOutput()
	if string(out) != "42\ntask\ntask\n" || session.ProcessState.ExitCode() != 6 {
		t.Errorf("%s", out)
	}
	if code := p.Wait(); code != 6 {
		t.Errorf("the allocation ended with %d", code)
	}
	if r := p.Report(); len(r.Steps) != 1 || r.Steps[0].Tasks != 2 {
		t.Errorf("%+v", r)
	}
}

func TestAnAllocationEndsAsItsLastStepDid(t *testing.T) {
	t.Parallel()
	killed, failed := launchconfig.Step{Signal: 9}, launchconfig.Step{Code: 1}
	cases := map[string]struct {
		code  int
		steps []launchconfig.Step
		want  protocol.Ending
	}{
		"a step that a signal ended":      {137, []launchconfig.Step{failed, killed}, protocol.Ending{Signal: 9}},
		"a step with the code of a shell": {137, []launchconfig.Step{killed, {Code: 137}}, protocol.Ending{Code: 137}},
		"a shell after such a step":       {3, []launchconfig.Step{killed}, protocol.Ending{Code: 3}},
		"no step":                         {137, nil, protocol.Ending{Code: 137}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := launcher.EndingOfSession(c.code, c.steps); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	p := steptest.NewPod(t, "")
	p.Spec.Interactive = true
	p.Start()
	p.Until("tools/run/agent.sock")
	_ = p.Program("session", "srun", "-n1", "sh", "-c", "kill -9 $$").Run()
	if code := p.Wait(); code != 137 {
		t.Errorf("the launcher ends with %d", code)
	}
	if r := p.Report(); r.Code != 0 || r.Signal != 9 {
		t.Errorf("the report says %d:%d, want 0:9 as in Slurm", r.Code, r.Signal)
	}
}

func TestAnAllocationWhoseSessionIsGoneEnds(t *testing.T) {
	t.Parallel()
	p := steptest.NewPod(t, "")
	p.Spec.Interactive = true
	p.Start()
	p.Until("tools/run/agent.sock")
	session := p.Program("session", "sh", "-c", "touch "+p.Dir+"/there; sleep 60")
	if err := session.Start(); err != nil {
		t.Fatal(err)
	}
	p.Until("there")
	_ = session.Process.Kill()
	_ = session.Wait()
	if code := p.Wait(); code != 1 {
		t.Errorf("%d", code)
	}
}
