package podcommands_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/test/steptest"
)

func TestSignalsFromOutsideReachWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	loop := "touch $N-there; while :; do sleep 0.01; done"
	script := "#!/bin/bash\nexport N=step\nsrun -n1 bash -c \"trap 'echo step-usr1; exit 1' USR1; " + strings.ReplaceAll(loop, "$", `\$`) + "\" &\nN=script\ntrap 'echo script-usr2; exit 0' USR2\ntrap 'echo script-usr1' USR1\n" + loop + "\n"
	p := steptest.NewPod(t, script).Start()
	p.Until("step-there")
	p.Until("script-there")
	if out, err := p.Program("signal", "--signal=USR1").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(p.Out.String(), "step-usr1") && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if out, err := p.Program("signal", "--signal=SIGUSR2", "--batch").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	p.Wait()
	if got := p.Out.String(); got != "step-usr1\nscript-usr2\n" {
		t.Errorf("%s%s", got, p.Err.String())
	}
}

func TestAMessageIsWrittenToTheErrorsOfTheScript(t *testing.T) {
	t.Parallel()
	p := steptest.NewPod(t, "#!/bin/sh\ntouch there; while [ ! -e told ]; do sleep 0.01; done\n").Start()
	p.Until("there")
	if out, err := p.Program("notify", "it stops", "at noon").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	p.Write("told", "")
	p.Wait()
	if got, want := p.Err.String(), "slurmstepd: error: it stops at noon\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
