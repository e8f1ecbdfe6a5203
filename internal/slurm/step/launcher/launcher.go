// Package launcher implements the main program of a job's pods. In the head, it runs the batch script or keeps an
// interactive allocation open. In the other pods, it runs only the agent.
//
//	In:   the job's specification and script (files in the pod), requests from commands in the job
//	Out:  the script's output, a launchconfig.Report, the exit code of the container
//
// # Invariants
//
//   - When the script has ended, the remaining steps and processes of the job are ended before the launcher exits.
//   - The exit code is the script's exit code, unless the job was requeued or cancelled from inside.
//
// # Concurrency
//
// The launcher's mutex guards the fields that requests and the end of the job change while the script is running.
package launcher

import (
	"io"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/agent"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/stepmgr"
)

// comeTime is the time for which an interactive allocation waits for its first session.
const comeTime = 5 * time.Minute

// launcher runs a job's script in the head. In the other pods, it runs only the agent.
type launcher struct {
	dirs  jobclient.Directories
	spec  launchconfig.Spec
	pod   launchconfig.Pod
	place launchconfig.Place
	agent *agent.Agent
	steps *stepmgr.Manager
	// roll records which nodes are connected.
	roll *roll
	// start is the time from which the job's run time is counted.
	start time.Time

	mu      sync.Mutex // guards the fields below
	script  *process.Process
	asked   *protocol.EndRequest
	left    int           // exit code of the last interactive session
	warning *time.Timer   // timer for the signal requested by --signal; nil if none exists
	errors  io.Writer     // receives the error output of the script and messages about the script
	stop    chan struct{} // closed when the job must end
}

func (l *launcher) isStopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}
