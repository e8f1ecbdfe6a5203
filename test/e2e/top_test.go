package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/terminal"
)

// TestANewUserUsesTheDashboard starts the dashboard in a real terminal and acts like a new user: opens a job, reads
// its log, suspends and resumes it, finds out why another one waits, and quits. The terminal must then be restored.
func TestANewUserUsesTheDashboard(t *testing.T) {
	c := startCluster(t, "--process-nodes", "2", "--node-cpu", "2")
	c.vcctl("job", "run", "train", "--image", "this-machine", "--replicas", "2", "--", "sh", "-c", "while true; do echo step of $HOSTNAME; sleep 1; done")
	c.vcctl("job", "run", "huge", "--image", "this-machine", "--replicas", "2", "--cpu", "50", "--", "true")

	m := terminal.New(t, 120, 40, "KUBECONFIG="+c.kubeconfig, "PATH="+binaries+":"+filepath.Dir("/bin/sh")+":/usr/bin", "COLORTERM=truecolor")
	m.Types("stty -g; echo be''fore")
	m.Shows("before")
	before, state := m.Screen(), m.State()

	m.Types("vcctl top")
	m.Shows("Nodes (allocatable / idle)", "node-1", "node-2", "train", "huge", "live")
	m.Shows("2/0/0") // both pods run

	m.Presses("/")
	m.Tmux("send-keys", "-l", "name:train") // a word alone also matches BadConstraints
	m.Presses("Enter", "Enter")
	m.Shows("> 1 train", "Timeline", "train-main-1", "Running")

	m.Presses("l")
	m.Shows("main-0 | step of train-main-0", "main-1 | step of train-main-1")

	m.Presses("p")
	m.Shows("Suspend job default/train?", "y/N")
	m.Presses("y")
	m.Presses("s")
	m.Shows("State      Aborted")
	m.Presses("r")
	m.Shows("Resume job default/train?")
	m.Presses("y")
	m.Shows("State      Running", "2 of 2 run")

	m.Presses("2", "/")
	m.Tmux("send-keys", "-l", "st:pd")
	m.Presses("Enter")
	m.Shows("huge", "TooLarge")
	m.Presses("w")
	m.Shows("is Pending: TooLarge", "cpu requested 50", "request at most cpu 2")

	m.Presses("q")
	after := m.Until("the shell again", func(screen string) bool { return strings.HasPrefix(screen, strings.TrimRight(before, "\n ")) })
	if got := m.State(); got != state {
		t.Errorf("the terminal is %s afterwards, and was %s", got, state)
	}
	for _, line := range strings.Split(strings.TrimPrefix(after, strings.TrimRight(before, "\n ")), "\n") {
		if line = strings.TrimSpace(line); line != "" && line != "vcctl top" && line != "#" && line != "$" {
			t.Errorf("the dashboard leaves a line behind: %q", line)
		}
	}
	m.Types("clear; stty -g; echo af''ter") // not the word that is still on the screen
	m.Shows("after")
	modes := func(screen string) string {
		for _, line := range strings.Split(screen, "\n") {
			if strings.Count(line, ":") > 10 {
				return line
			}
		}
		return ""
	}
	if was, is := modes(before), modes(m.Screen()); was == "" || was != is {
		t.Errorf("stty says %q afterwards, and said %q", is, was)
	}
}
