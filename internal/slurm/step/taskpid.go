package step

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// taskName is the name by which this program starts a task: it tells the task its own process number and becomes the task. A process number is
// not known before there is a process, so nothing else can put it into the environment.
const taskName = "vc-task"

// envTaskPID is the variable with a task's process number.
const envTaskPID = "SLURM_TASK_PID"

// verdictFile is where a process called taskName writes why it could not become the task.
const verdictFile = 3

// throughHelper makes a command start through this program, and returns the file that belongs to the started process.
func (p *process) throughHelper() (theirs *os.File, err error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.verdict = read
	p.command.Args = append([]string{taskName, p.command.Path}, p.command.Args...)
	p.command.Path, p.command.ExtraFiles = own, []*os.File{write}
	return write, nil
}

// executed waits until the task's program runs; it returns why it does not.
func (p *process) executed() error {
	text, err := io.ReadAll(p.verdict)
	_ = p.verdict.Close()
	if err != nil || len(text) == 0 {
		return err
	}
	number, err := strconv.Atoi(string(text))
	if err != nil {
		return fmt.Errorf("the task was not started: %q", text)
	}
	return syscall.Errno(number)
}

// becomeTask executes a program as a task: path, then its arguments from the name on. It returns only if that fails.
func becomeTask(args []string) int {
	syscall.CloseOnExec(verdictFile)
	env := []string{envTaskPID + "=" + strconv.Itoa(os.Getpid())}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, envTaskPID+"=") {
			env = append(env, entry)
		}
	}
	err := syscall.Exec(args[0], args[1:], env)
	number := syscall.EINVAL
	if errno, is := err.(syscall.Errno); is {
		number = errno
	}
	_, _ = syscall.Write(verdictFile, []byte(strconv.Itoa(int(number))))
	return 1
}
