package root_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/golden"
)

// terminal is a real one, drawn by tmux, with a shell in it.
type terminal struct {
	t      *testing.T
	socket string
}

// newTerminal starts a terminal of a size whose shell can call vcctl.
func newTerminal(t *testing.T, server *clitest.Server, columns, lines int) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux makes the terminals, and is not here")
	}
	vcctl, err := exec.LookPath("vcctl") // testscript.Main put it there
	if err != nil {
		t.Fatal(err)
	}
	m := &terminal{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	shell := exec.CommandContext(t.Context(), "tmux", "-S", m.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "sh")
	shell.Env = append(os.Environ(), "KUBECONFIG="+server.Kubeconfig("nlp"), "PATH="+filepath.Dir(vcctl)+":"+os.Getenv("PATH"), "ENV=", "LANG=C.UTF-8")
	if text, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, text)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

func (m *terminal) tmux(args ...string) string {
	m.t.Helper()
	text, err := exec.CommandContext(m.t.Context(), "tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %v: %v: %s", args, err, text)
	}
	return string(text)
}

// types sends text and the return key.
func (m *terminal) types(text string) { m.tmux("send-keys", text, "Enter") }

// shows waits until the screen shows the text.
func (m *terminal) shows(want string) {
	m.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		screen := m.tmux("capture-pane", "-p")
		if strings.Contains(screen, want) {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("the terminal never shows %q:\n%s", want, screen)
		}
	}
}

func terminalOfGoldens(t *testing.T, columns, lines int) *terminal {
	t.Helper()
	server := clitest.Start(t, golden.Cluster()...)
	golden.Logs(server)
	return newTerminal(t, server, columns, lines)
}

func TestExecGivesACommandATerminalOfThisSizeThatFollowsWhenItChanges(t *testing.T) {
	m := terminalOfGoldens(t, 100, 30)
	m.types("vcctl job exec train -- size; echo code $?")
	m.shows("100 columns, 30 lines")
	m.tmux("resize-window", "-x", "66", "-y", "22")
	m.shows("66 columns, 22 lines")
	m.tmux("send-keys", "q")
	m.shows("code 0")
}

func TestEveryKeyReachesTheCommandAndTheTerminalIsAsBeforeAfterwards(t *testing.T) {
	m := terminalOfGoldens(t, 80, 24)
	m.types("vcctl job exec train -- keys; echo code $?")
	m.shows("listening")
	m.tmux("send-keys", "a")
	m.shows("'a'")
	m.tmux("send-keys", "C-c")
	m.shows(`'\x03'`)
	m.tmux("send-keys", "C-z")
	m.shows(`'\x1a'`)
	m.tmux("send-keys", "C-d")
	m.shows(`'\x04'`)
	m.tmux("send-keys", "q")
	m.shows("code 0")
	m.types("if stty -a | grep -q '^isig icanon '; then echo as be''fore; fi")
	m.shows("as before")
	m.types("vcctl job exec train -- exit 7; echo code $?")
	m.shows("code 7")
}

func TestCtrlCEndsWhatWaits(t *testing.T) {
	m := terminalOfGoldens(t, 120, 24)
	for _, command := range []string{"vcctl job list -w", "vcctl job logs train -f", "vcctl job wait train", "vcctl job explain eval -w"} {
		m.tmux("clear-history")
		m.types("clear; " + command + "; echo code $?")
		switch {
		case strings.Contains(command, "wait"):
			m.shows("waiting for job train")
		case strings.Contains(command, "logs"):
			m.shows("epoch 2")
		default:
			m.shows("GangDoesNotFit")
		}
		m.tmux("send-keys", "C-c")
		m.shows("code 130")
	}
}
