package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/test/terminal"
)

// prompt is the prompt of the user's shell. It shows that a command has ended.
const prompt = "here> "

// typist is a shell in a terminal of tmux, with vcctl on PATH.
type typist struct {
	c      *cluster
	socket string
}

func (c *cluster) typist(columns, lines int) *typist {
	c.t.Helper()
	terminal.Need(c.t)
	s := &typist{c: c, socket: filepath.Join(c.t.TempDir(), "tmux")}
	shell := exec.CommandContext(c.t.Context(), "tmux", "-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "sh")
	shell.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.dir, "PATH="+binaries+":"+os.Getenv("PATH"), "LANG=C.UTF-8", "ENV=", "TERM=screen")
	if text, err := shell.CombinedOutput(); err != nil {
		c.t.Fatalf("tmux: %v: %s", err, text)
	}
	c.t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

func (s *typist) tmux(args ...string) string {
	s.c.t.Helper()
	text, err := exec.CommandContext(s.c.t.Context(), "tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.c.t.Fatalf("tmux %v: %v: %s", args, err, text)
	}
	return string(text)
}

// types types a line.
func (s *typist) types(line string) { s.tmux("send-keys", line, "Enter") }

// shows waits until the screen shows a text.
func (s *typist) shows(want string) {
	s.c.t.Helper()
	last := ""
	s.c.eventually(time.Minute, "the terminal shows "+want, func() error {
		if last = s.tmux("capture-pane", "-p"); strings.Contains(last, want) {
			return nil
		}
		return fmt.Errorf("it shows:\n%s", last)
	})
}

// isBack waits for the prompt of the user's own shell. Input before that would go to the program that is about to end.
func (s *typist) isBack() {
	s.c.t.Helper()
	s.c.eventually(time.Minute, "the prompt is back", func() error {
		text := strings.TrimRight(s.tmux("capture-pane", "-p"), "\n ")
		if strings.HasSuffix(text, strings.TrimRight(prompt, " ")) {
			return nil
		}
		return fmt.Errorf("the terminal shows:\n%s", text)
	})
}

const listener = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: listener}
spec:
  tasks:
  - name: main
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - {name: main, image: busybox, stdin: true, tty: true, command: [sh, -c, 'while read -r word; do echo "heard $word"; [ "$word" = bye ] && exit 5; done']}
`

// A user works in the pods of a job: with a shell in a terminal of this size, in which Ctrl-C interrupts the program
// and not the connection, and with a program that reads its input until it ends. The exit codes are those of the
// programs.
func TestAPersonWorksInThePodsOfAJob(t *testing.T) {
	c := startCluster(t, "--process-nodes=1", "--node-cpu=4")
	c.vcctl("job", "run", "train", "--cpu", "100m", "--replicas", "2", "--", "sh", "-c", "while :; do echo tick; sleep 1; done")
	c.must(listener, "vcctl", "job", "run", "-f", "-")
	c.vcctl("job", "wait", "train", "listener", "--for=running", "--timeout", "2m")
	s := c.typist(100, 30)
	s.types("PS1='" + prompt + "'")
	s.isBack()
	s.types("vcctl job exec train -t main -i 1 -- sh")
	s.types("until [ \"$(stty size)\" = '30 100' ]; do sleep 0.1; done; echo size $(stty size) of $(hostname)") // sizes arrive after the shell has started
	s.shows("size 30 100 of train-main-1")
	s.tmux("resize-window", "-x", "90", "-y", "25")
	s.types("clear; until [ \"$(stty size)\" = '25 90' ]; do sleep 0.1; done; echo now $(stty size)") // the new size arrives later
	s.shows("now 25 90")
	s.types("sleep 1000; echo slept $?")
	s.shows("slept $?\n") // it sleeps: the shell has read the line
	s.tmux("send-keys", "C-c")
	s.shows("^C\n#") // the terminal discards input from before
	s.types("echo still in $(hostname)")
	s.shows("still in train-main-1")
	s.types("exit 3")
	s.isBack()
	s.types("echo code $?")
	s.shows("code 3")

	s.types("clear; vcctl job attach listener; echo ended $?")
	s.types("hello")
	s.shows("heard hello")
	s.types("bye")
	s.shows("ended 5")

	s.isBack()
	s.types("clear; vcctl job attach train; echo left $?")
	s.shows("tick")
	s.tmux("send-keys", "C-c")
	s.shows("left 130")
	s.isBack()
	s.types("clear; vcctl job logs train -f; echo left $?")
	s.shows("main-1 | tick")
	s.tmux("send-keys", "C-c")
	s.shows("left 130")
	if r := c.run("", "vcctl", "job", "exec", "train", "--", "sh", "-c", "echo out; echo err >&2; exit 9"); r.code != 9 || r.stdout != "out\n" || r.stderr != "err\n" {
		t.Errorf("without a terminal: %+v", r)
	}
}
