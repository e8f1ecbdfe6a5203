package srun

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/srunoptions"
	"github.com/vc-batch/vc/internal/slurm/step/taskio"
)

// runner runs an srun command from the start to the end of its step.
type runner struct {
	client  *jobclient.Client
	options *srunoptions.Options
	job     protocol.JobAnswer
	given   protocol.BeginAnswer
	head    *protocol.Conn
	nodes   []*nodeTasks
	outputs *taskio.Outputs
	errors  io.Writer
	// heard is closed when receiveFromHead returns. listening is true once receiveFromHead has been started. received
	// delivers the signals that srun itself receives.
	heard     chan struct{}
	received  chan os.Signal
	listening bool

	mu        sync.Mutex // guards the fields below
	ends      map[int]protocol.Ending
	failed    bool
	cancelled bool
	sent      map[int]time.Time // the time when each signal was last sent
	failures  *failures
}

// nodeTasks holds the step's tasks on one node.
type nodeTasks struct {
	host    string
	first   int // rank of the first task
	tasks   []protocol.Task
	conn    *protocol.Conn
	windows map[int]*inputWindow // by rank, for each task that receives input
}

func newRunner(client *jobclient.Client, o *srunoptions.Options) *runner {
	return &runner{client: client, options: o, ends: map[int]protocol.Ending{}, sent: map[int]time.Time{}, errors: os.Stderr, heard: make(chan struct{}), received: make(chan os.Signal, 16)}
}

func (r *runner) printNotice(text string) {
	if !r.options.Quiet {
		fmt.Fprintln(r.errors, "srun:", text)
	}
}
