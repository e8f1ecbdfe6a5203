package step

import (
	"strings"
	"testing"
	"time"
)

func TestSignalsFromOutsideReachWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	loop := "touch $N-there; while :; do sleep 0.01; done"
	script := "#!/bin/bash\nexport N=step\nsrun -n1 bash -c \"trap 'echo step-usr1; exit 1' USR1; " + strings.ReplaceAll(loop, "$", `\$`) + "\" &\nN=script\ntrap 'echo script-usr2; exit 0' USR2\ntrap 'echo script-usr1' USR1\n" + loop + "\n"
	p := newPod(t, script).start()
	p.until("step-there")
	p.until("script-there")
	if out, err := p.program("signal", "--signal=USR1").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(p.out.String(), "step-usr1") && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if out, err := p.program("signal", "--signal=SIGUSR2", "--batch").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	p.wait()
	if got := p.out.String(); got != "step-usr1\nscript-usr2\n" {
		t.Errorf("%s%s", got, p.err.String())
	}
}

func TestAMessageIsWrittenToTheErrorsOfTheScript(t *testing.T) {
	t.Parallel()
	p := newPod(t, "#!/bin/sh\ntouch there; while [ ! -e told ]; do sleep 0.01; done\n").start()
	p.until("there")
	if out, err := p.program("notify", "it stops", "at noon").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	p.write("told", "")
	p.wait()
	if got, want := p.err.String(), "slurmstepd: error: it stops at noon\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
