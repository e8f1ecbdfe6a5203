package step

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// taskName is the name under which this program starts a task. It sets the task's process ID in the environment and
// then executes the task's program in the same process. Only the new process can set the variable, because its ID is
// unknown before the process exists.
const taskName = "vc-task"

// envTaskPID is the variable that contains a task's process ID.
const envTaskPID = "SLURM_TASK_PID"

// verdictFile is the file descriptor to which becomeTask writes the error number if it cannot execute the task's
// program.
const verdictFile = 3

// startThroughHelper changes a command so that it is started by this program. It returns the file that belongs to the
// started process.
func (p *process) startThroughHelper() (theirs *os.File, err error) {
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

// waitUntilExecuted waits until the task's program is running. It returns an error if the program could not be
// executed.
func (p *process) waitUntilExecuted() error {
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

// becomeTask executes a task's program in this process. args contains the path of the program, followed by its
// arguments, which start with its name. becomeTask returns only if this fails.
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
