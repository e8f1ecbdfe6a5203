package step

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// comeTime is how long an interactive allocation waits for its first session.
const comeTime = 5 * time.Minute

// launcher runs a job's script in the head. In the other pods, it runs only the agent.
type launcher struct {
	dirs  directories
	spec  launchconfig.Spec
	pod   launchconfig.Pod
	place launchconfig.Place
	agent *agent
	head  *head
	// roll records which nodes are connected.
	roll *roll
	// start is the time from which the job's run time is counted.
	start time.Time

	mu      sync.Mutex // guards the fields below
	script  *process
	asked   *endRequest
	left    int           // exit code of the last interactive session
	warning *time.Timer   // timer for the signal of --signal; nil without this option
	errors  io.Writer     // error output of the script, and of messages about the script
	stop    chan struct{} // closed when the job must end
}

// scriptEnvironment returns the script's environment: the variables of the container, the submitted variables, and
// Slurm's variables.
func (l *launcher) scriptEnvironment(hosts []string) []string {
	exported, user := l.dirs.readExported(), currentUser()
	exported = slices.DeleteFunc(exported, func(entry string) bool { return strings.HasPrefix(entry, "VC_") }) // these variables identify the pod
	env := launchconfig.MergeVariables(
		launchconfig.LoginVariables(&l.spec, user), launchconfig.GPUVariables(&l.spec),
		launchconfig.MeetingVariables(&l.pod, hosts), launchconfig.MPIVariables(l.dirs.hostfilePath(), filepath.Join(l.dirs.programDirectory(), launchconfig.RshName), os.Getuid() == 0),
		l.agent.container, exported, launchconfig.SlurmVariables(&l.spec, &l.pod, hosts, l.start), launchconfig.IdentityVariables(user),
	)
	return launchconfig.MergeVariables(env, []string{"PATH=" + l.dirs.programDirectory() + ":" + searchPath(env)})
}

// defaultPath is the PATH of a container whose image does not set one.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func searchPath(env []string) string {
	if path := launchconfig.VariableValue(env, "PATH"); path != "" {
		return path
	}
	return defaultPath
}

func (l *launcher) isStopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}
