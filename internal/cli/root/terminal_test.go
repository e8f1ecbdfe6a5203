package root_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/terminal"
)

// newTerminal starts a terminal of the given size whose shell can run vcctl.
func newTerminal(t *testing.T, server *clitest.Server, columns, lines int) *terminal.Terminal {
	t.Helper()
	vcctl, err := exec.LookPath("vcctl") // installed by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	return terminal.New(t, columns, lines, "KUBECONFIG="+server.WriteKubeconfig("nlp"), "PATH="+filepath.Dir(vcctl)+":"+os.Getenv("PATH"))
}

func terminalOfGoldens(t *testing.T, columns, lines int) *terminal.Terminal {
	t.Helper()
	server := clitest.Start(t, golden.ClusterObjects()...)
	golden.AddLogs(server)
	return newTerminal(t, server, columns, lines)
}

func TestExecGivesACommandATerminalOfThisSizeThatFollowsWhenItChanges(t *testing.T) {
	m := terminalOfGoldens(t, 100, 30)
	m.Types("vcctl job exec train -- size; echo code $?")
	m.Shows("100 columns, 30 lines")
	m.Tmux("resize-window", "-x", "66", "-y", "22")
	m.Shows("66 columns, 22 lines")
	m.Tmux("send-keys", "q")
	m.Shows("code 0")
}

func TestEveryKeyReachesTheCommandAndTheTerminalIsAsBeforeAfterwards(t *testing.T) {
	m := terminalOfGoldens(t, 80, 24)
	m.Types("vcctl job exec train -- keys; echo code $?")
	m.Shows("listening")
	m.Tmux("send-keys", "a")
	m.Shows("'a'")
	m.Tmux("send-keys", "C-c")
	m.Shows(`'\x03'`)
	m.Tmux("send-keys", "C-z")
	m.Shows(`'\x1a'`)
	m.Tmux("send-keys", "C-d")
	m.Shows(`'\x04'`)
	m.Tmux("send-keys", "q")
	m.Shows("code 0")
	m.Types("if stty -a | grep -q '^isig icanon '; then echo as be''fore; fi")
	m.Shows("as before")
	m.Types("vcctl job exec train -- exit 7; echo code $?")
	m.Shows("code 7")
}

func TestCtrlCEndsWhatWaits(t *testing.T) {
	m := terminalOfGoldens(t, 120, 24)
	for _, command := range []string{"vcctl job list -w", "vcctl job logs train -f", "vcctl job wait train", "vcctl job explain eval -w"} {
		m.Tmux("clear-history")
		m.Types("clear; " + command + "; echo code $?")
		switch {
		case strings.Contains(command, "wait"):
			m.Shows("waiting for job train")
		case strings.Contains(command, "logs"):
			m.Shows("epoch 2")
		default:
			m.Shows("GangDoesNotFit")
		}
		m.Tmux("send-keys", "C-c")
		m.Shows("code 130")
	}
}
