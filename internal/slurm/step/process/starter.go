package process

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// StarterName is the name under which this program starts a task. It sets the task's process ID in the environment and
// then executes the task's program in the same process. The new process must set the variable itself, because its ID is
// unknown before the process exists.
const StarterName = "vc-task"

// envTaskPID is the environment variable that contains a task's process ID.
const envTaskPID = "SLURM_TASK_PID"

// verdictFile is the file descriptor to which RunStarter writes the error number if it cannot execute the task's
// program.
const verdictFile = 3

// RunStarter executes a task's program in this process. args contains the path of the program, followed by the
// program's arguments, which start with its name. RunStarter returns only if the program cannot be executed.
func RunStarter(args []string) int {
	syscall.CloseOnExec(verdictFile)
	env := []string{envTaskPID + "=" + strconv.Itoa(os.Getpid())}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, envTaskPID+"=") {
			env = append(env, entry)
		}
	}
	err := syscall.Exec(args[0], args[1:], env)
	number := syscall.EINVAL
	_ = errors.As(err, &number) // any other error stays EINVAL
	_, _ = syscall.Write(verdictFile, []byte(strconv.Itoa(int(number))))
	return 1
}
