package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/signals"
	"github.com/vc-batch/vc/internal/slurm/step/taskio"
)

// runScript runs the script until it ends.
func (l *launcher) runScript() (protocol.Ending, error) {
	out, err := taskio.OpenScriptOutput(&l.spec, launchconfig.NewNames(&l.spec, &l.pod, l.place))
	if err != nil {
		return protocol.Ending{}, err
	}
	defer out.CloseFiles()
	l.mu.Lock()
	l.errors = out.Stderr
	l.mu.Unlock()
	program, err := l.copyScript()
	if err != nil {
		return protocol.Ending{}, err
	}
	dir := l.spec.WorkDir
	if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
		fmt.Fprintf(os.Stderr, "slurmstepd: error: couldn't chdir to `%s': No such file or directory: going to /tmp instead\n", dir)
		dir = "/tmp"
	}
	input, err := l.openInput()
	if err != nil {
		return protocol.Ending{}, err
	}
	login, err := l.loginVariables(program, l.steps.ScriptEnvironment)
	if err != nil {
		return protocol.Ending{}, err
	}
	l.mu.Lock()
	l.script, err = process.Start(process.Command{Args: append([]string{program}, l.spec.Args...), Env: launchconfig.MergeVariables(l.steps.ScriptEnvironment, login), Dir: dir, Input: input}, out.Stdout, out.ErrorWriter())
	script := l.script
	l.mu.Unlock()
	if err == nil {
		if err = script.WaitUntilExecuted(); err != nil {
			script.WaitForEnd()
		}
	}
	if err != nil {
		return protocol.Ending{}, fmt.Errorf("execve(): %s: %w", interpreterName(program), slurmerror.SystemReason(err))
	}
	if l.isStopped() {
		script.SignalGroup(int(syscall.SIGTERM))
	}
	defer l.signalBeforeLimit()()
	return l.classifyEnding(script.WaitForEnd()), nil
}

// classifyEnding returns how the script ended. As in Slurm, the script counts as killed for lack of memory if the
// kernel killed one of its processes, even if the script continued. Kills in steps are not counted here, because the
// steps have already claimed them.
func (l *launcher) classifyEnding(e protocol.Ending) protocol.Ending {
	kills := l.agent.OOM.ClaimKills()
	if kills == 0 {
		return e
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.errors, "slurmstepd: "+process.OOMText(kills, l.pod.SlurmJobID()+".batch"))
	return protocol.Ending{Signal: signals.NoMemory, Usage: e.Usage}
}

// copyScript copies the script to an executable file, so that the script no longer depends on the ConfigMap.
func (l *launcher) copyScript() (string, error) {
	text, err := os.ReadFile(filepath.Join(l.dirs.Spec, launchconfig.ScriptKey))
	if err != nil {
		return "", fmt.Errorf("the script: %w", err)
	}
	path := l.dirs.ScriptPath()
	_ = os.Remove(path) // an existing file may belong to another user
	return path, os.WriteFile(path, text, 0o755)
}

// openInput opens the file named by --input. It returns nil if the script has no input.
func (l *launcher) openInput() (*os.File, error) {
	if l.spec.Input == "" {
		return nil, nil
	}
	path, err := launchconfig.NewNames(&l.spec, &l.pod, l.place).ExpandPattern(l.spec.Input)
	if err != nil {
		return nil, err
	}
	path = taskio.AbsolutePath(l.spec.WorkDir, path)
	file, err := os.Open(path)
	if err != nil {
		return nil, slurmerror.Errorf("Could not open stdin file %s: %w", path, slurmerror.SystemReason(err))
	}
	return file, nil
}

// trapTime is the time that a script gets to set its traps if the signal is already due when the script starts. A delay
// is acceptable because Slurm, too, sends such a signal only when it next checks time limits.
const trapTime = 2 * time.Second

// signalBeforeLimit schedules the signal requested by --signal, and returns a function that cancels the signal. It must
// be called after the script has started, because a signal that is already due would otherwise be lost. If the time
// limit changes, rescheduleSignal reschedules the signal.
func (l *launcher) signalBeforeLimit() (callOff func()) {
	s := l.spec.Signal
	if s == nil {
		return func() {}
	}
	send := func() {
		l.steps.SendSignal(&protocol.SignalRequest{Number: s.Number, Batch: s.Batch, Steps: !s.Batch, Step: -1})
	}
	warning := time.AfterFunc(max(l.timeUntilSignal(s), trapTime), send)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.warning = warning
	return func() { warning.Stop() }
}

// never is longer than any job can run.
const never = 100 * 365 * 24 * time.Hour

// timeUntilSignal returns the time until the signal requested by --signal is due.
func (l *launcher) timeUntilSignal(s *launchconfig.Signal) time.Duration {
	limit := l.steps.TimeLimit()
	if limit == 0 {
		return never
	}
	return max(0, limit-time.Duration(s.Seconds)*time.Second-time.Since(l.start))
}

// rescheduleSignal reschedules the signal requested by --signal, unless it has already been sent.
func (l *launcher) rescheduleSignal() {
	l.mu.Lock()
	warning := l.warning
	l.mu.Unlock()
	if warning != nil && warning.Stop() {
		warning.Reset(l.timeUntilSignal(l.spec.Signal))
	}
}

func (l *launcher) signalScript(number int, alone bool) {
	l.mu.Lock()
	script := l.script
	l.mu.Unlock()
	switch {
	case script == nil:
	case alone:
		script.SignalProcess(number)
	default:
		script.SignalGroup(number)
	}
}

// interpreterName returns a description of the file that could not be executed. This is the interpreter of the script
// or, if the script does not name an interpreter, the script itself.
func interpreterName(program string) string {
	file, err := os.Open(program)
	if err != nil {
		return program
	}
	defer file.Close()
	line := make([]byte, 256)
	n, _ := file.Read(line)
	name := interpreterOf(string(line[:n]))
	if name == "" {
		return program
	}
	return "bad interpreter(" + name + ")"
}

// interpreterOf returns the interpreter that the first line of a script names, or "" if it names none.
func interpreterOf(line string) string {
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
