package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/usererror"
)

// progressVariable is the environment variable that marks a detached process. File descriptor 3 of such a process is a
// pipe to the process that is waiting until the cluster is ready.
const progressVariable = "VC_LOCAL_PROGRESS"

const progressDescriptor = 3

// wireEvent is a line of JSON that is written to the pipe.
type wireEvent struct {
	Part    string        `json:"part,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
	Note    string        `json:"note,omitempty"`
	Warning string        `json:"warning,omitempty"`
	Up      *local.Record `json:"up,omitempty"`
	Error   string        `json:"error,omitempty"`
	Hint    string        `json:"hint,omitempty"`
}

// wireReporter reports progress to the process that is waiting for this one.
type wireReporter struct {
	mu   sync.Mutex
	pipe *os.File
}

func wireFromEnvironment() *wireReporter {
	if os.Getenv(progressVariable) == "" {
		return nil
	}
	_ = os.Unsetenv(progressVariable) // the processes of pods must not inherit it
	syscall.CloseOnExec(progressDescriptor)
	return &wireReporter{pipe: os.NewFile(progressDescriptor, "progress")}
}

func (w *wireReporter) sendEvent(e wireEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe != nil {
		_ = json.NewEncoder(w.pipe).Encode(e) // an error means that no process is waiting any longer
	}
}

func (w *wireReporter) closePipe() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe != nil {
		_ = w.pipe.Close()
		w.pipe = nil
	}
}

func (w *wireReporter) Ready(part string, took time.Duration) {
	w.sendEvent(wireEvent{Part: part, Seconds: took.Seconds()})
}

func (w *wireReporter) Note(line string) { w.sendEvent(wireEvent{Note: line}) }

func (w *wireReporter) Warn(line string) { w.sendEvent(wireEvent{Warning: line}) }

func (w *wireReporter) Up(record local.Record) {
	w.sendEvent(wireEvent{Up: &record})
	w.closePipe()
	go settleMemory()
}

// reportEnd reports err to the waiting process, if there is one, and returns err. A nil error is not reported.
func (w *wireReporter) reportEnd(err error) error {
	if err != nil {
		e := wireEvent{Error: err.Error()}
		var human *usererror.Error
		if errors.As(err, &human) {
			e.Error, e.Hint = human.What, human.Hint
		}
		w.sendEvent(e)
	}
	w.closePipe()
	return err
}

// startAndDetach starts this command again in its own session. It returns nil when the cluster is ready, or an error if
// the cluster does not become ready.
func startAndDetach(ctx context.Context, dir local.Dir, out, errOut io.Writer) error {
	child, pipe, err := startDetached(dir)
	if err != nil {
		return err
	}
	defer pipe.Close()
	stopWatching := context.AfterFunc(ctx, func() { _ = child.Signal(syscall.SIGTERM) })
	defer stopWatching()

	text := &textReporter{out: out, errOut: errOut, begun: time.Now()}
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e wireEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue
		}
		switch {
		case ctx.Err() != nil:
			// The process is being stopped, so its messages are no longer relevant.
		case e.Up != nil:
			fmt.Fprintf(errOut, "cluster ready after %.1fs; the cluster runs as process %d until you stop it with vc-local down\n", time.Since(text.begun).Seconds(), e.Up.PID)
			text.Up(*e.Up)
			return child.Release()
		case e.Error != "":
			_, _ = child.Wait()
			return &usererror.Error{What: e.Error, Hint: e.Hint}
		case e.Warning != "":
			text.Warn(e.Warning)
		case e.Note != "":
			text.Note(e.Note)
		case e.Part != "":
			text.Ready(e.Part, time.Duration(e.Seconds*float64(time.Second)))
		}
	}
	state, err := child.Wait()
	if ctx.Err() != nil {
		return errInterrupted
	}
	return &usererror.Error{What: fmt.Sprintf("the cluster exited during startup: %s%s", describeEnd(state, err), lastLines(dir.ProcessLog())), Hint: "see " + dir.ProcessLog() + " and " + dir.ControlPlaneLog()}
}

// startDetached starts the detached process with its output redirected to its log. It returns the process and the pipe
// from which its progress can be read.
func startDetached(dir local.Dir) (*os.Process, *os.File, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if err := dir.Create(); err != nil {
		return nil, nil, err
	}
	log, err := controlplane.OpenLogFile(dir.ProcessLog())
	if err != nil {
		return nil, nil, err
	}
	_ = log.Close()
	output, err := os.OpenFile(dir.ProcessLog(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, err
	}
	defer output.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer writer.Close()
	isDetach := func(arg string) bool { return arg == "--detach" || strings.HasPrefix(arg, "--detach=") }
	cmd := exec.Command(program, slices.DeleteFunc(slices.Clone(os.Args[1:]), isDetach)...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.ExtraFiles = []*os.File{writer}
	cmd.Env = append(os.Environ(), progressVariable+"=3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = reader.Close()
		return nil, nil, fmt.Errorf("%s cannot be started: %w", program, err)
	}
	return cmd.Process, reader, nil
}

func describeEnd(state *os.ProcessState, err error) string {
	if err != nil {
		return err.Error()
	}
	return state.String()
}

// lastLines returns the last five lines of a log, to be shown together with an error.
func lastLines(path string) string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return "\n" + strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// shellQuote quotes text for a shell if necessary.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		isLetterOrDigit := r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		return isLetterOrDigit || strings.ContainsRune("/.-_=+:,@", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
