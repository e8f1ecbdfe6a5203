// Package terminal is a real terminal for tests, drawn by tmux, with a shell in it.
//
//	In:   keys
//	Out:  what the screen shows
//
// Tests that need it skip where tmux is not installed; where CI=true they fail.
package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long Shows waits.
const patience = 30 * time.Second

// Terminal is one.
type Terminal struct {
	t      testing.TB
	socket string
}

// Need skips a test where there is no tmux; a CI that has none is broken.
func Need(t testing.TB) {
	t.Helper()
	switch _, err := exec.LookPath("tmux"); {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal("tmux makes the terminals, and is not here: .ci/run installs it")
	default:
		t.Skip("tmux makes the terminals, and is not here")
	}
}

// New starts a terminal of a size whose shell has some variables more; it ends with the test.
func New(t testing.TB, columns, lines int, env ...string) *Terminal {
	t.Helper()
	Need(t)
	m := &Terminal{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	shell := exec.CommandContext(t.Context(), "tmux", "-S", m.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "sh")
	shell.Env = append(append(os.Environ(), "ENV=", "LANG=C.UTF-8"), env...)
	if text, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, text)
	}
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

// Tmux runs a command of tmux and returns what it prints.
func (m *Terminal) Tmux(args ...string) string {
	m.t.Helper()
	text, err := exec.CommandContext(m.t.Context(), "tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %v: %v: %s", args, err, text)
	}
	return string(text)
}

// Types sends text and the return key.
func (m *Terminal) Types(text string) {
	m.Tmux("send-keys", "-l", text)
	m.Tmux("send-keys", "Enter")
}

// Presses sends keys, as tmux calls them: x, Enter, Escape, C-d.
func (m *Terminal) Presses(keys ...string) {
	for _, key := range keys {
		m.Tmux("send-keys", key)
	}
}

// Screen is what the terminal shows.
func (m *Terminal) Screen() string { return m.Tmux("capture-pane", "-p") }

// Shows waits until the screen shows all of some texts, and returns it.
func (m *Terminal) Shows(texts ...string) string {
	m.t.Helper()
	return m.Until(fmt.Sprintf("%q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// Until waits until the screen is as it should be, and returns it.
func (m *Terminal) Until(what string, holds func(screen string) bool) string {
	m.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		screen := m.Screen()
		if holds(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("the terminal never shows %s:\n%s", what, screen)
		}
	}
}

// Child is the process that the shell runs now; 0 is none.
func (m *Terminal) Child() int {
	m.t.Helper()
	shell := strings.TrimSpace(m.Tmux("display-message", "-p", "#{pane_pid}"))
	text, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", shell, shell))
	if err != nil {
		m.t.Fatal(err)
	}
	child := 0
	_, _ = fmt.Sscan(string(text), &child) // nothing there: no child
	return child
}

// Resize gives the terminal another size.
func (m *Terminal) Resize(columns, lines int) {
	m.Tmux("resize-window", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines))
}

// State is what of a terminal a program can leave behind: which screen, mouse, cursor, modes.
func (m *Terminal) State() string {
	return m.Tmux("display-message", "-p", "alternate #{alternate_on} mouse #{mouse_any_flag} #{mouse_sgr_flag} cursor #{cursor_flag} keypad #{keypad_cursor_flag} #{keypad_flag} wrap #{wrap_flag} insert #{insert_flag}")
}
