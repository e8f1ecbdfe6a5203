// Package terminal runs a shell in a real terminal for tests, with tmux.
//
//	In:   keys
//
// Out:  the text of the screen
//
// Tests that need it are skipped if tmux is not installed. With CI=true they fail instead.
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

// Terminal is a terminal in tmux.
type Terminal struct {
	t      testing.TB
	socket string
}

// Need skips a test if tmux is not installed. In CI, it fails the test.
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

// New starts a terminal of a size, whose shell has additional environment variables. It is closed when the test ends.
func New(t testing.TB, columns, lines int, env ...string) *Terminal {
	t.Helper()
	Need(t)
	m := &Terminal{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	shell := exec.CommandContext(t.Context(), "tmux", "-S", m.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "exec sh")
	shell.Env = append(append(os.Environ(), "ENV=", "LANG=C.UTF-8", "SHELL=/bin/sh"), env...) // the user's shell may be nologin
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

// Presses sends keys by their names in tmux: x, Enter, Escape, C-d.
func (m *Terminal) Presses(keys ...string) {
	for _, key := range keys {
		m.Tmux("send-keys", key)
	}
}

// Screen returns the text of the screen.
func (m *Terminal) Screen() string { return m.Tmux("capture-pane", "-p") }

// Shows waits until the screen contains all texts, and returns the screen.
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

// Until waits until holds returns true for the screen, and returns the screen.
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

// Child returns the process that the shell runs, or 0.
func (m *Terminal) Child() int {
	m.t.Helper()
	shell := strings.TrimSpace(m.Tmux("display-message", "-p", "#{pane_pid}"))
	text, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", shell, shell))
	if err != nil {
		m.t.Fatal(err)
	}
	child := 0
	_, _ = fmt.Sscan(string(text), &child) // empty: no child
	return child
}

// Resize changes the size of the terminal.
func (m *Terminal) Resize(columns, lines int) {
	m.Tmux("resize-window", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines))
}

// State describes the properties of a terminal that a program must restore: the alternate screen, mouse, cursor, and
// modes.
func (m *Terminal) State() string {
	return m.Tmux("display-message", "-p", "alternate #{alternate_on} mouse #{mouse_any_flag} #{mouse_sgr_flag} cursor #{cursor_flag} keypad #{keypad_cursor_flag} #{keypad_flag} wrap #{wrap_flag} insert #{insert_flag}")
}
