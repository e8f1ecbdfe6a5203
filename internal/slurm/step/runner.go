package step

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// runner runs an srun command, from the start of its step to the end.
type runner struct {
	here    *here
	options *stepOptions
	job     jobAnswer
	given   beginAnswer
	head    *wire
	nodes   []*nodeTasks
	outputs *outputs
	errors  io.Writer
	// heard is closed when receiveFromHead returns. listening is true once receiveFromHead has been started. received
	// delivers the signals that srun itself receives.
	heard     chan struct{}
	received  chan os.Signal
	listening bool

	mu        sync.Mutex // guards the fields below
	ends      map[int]ending
	failed    bool
	cancelled bool
	sent      map[int]time.Time // when each signal was last sent
	failures  *failures
}

// nodeTasks holds the step's tasks on one node.
type nodeTasks struct {
	host  string
	first int // rank of the first task
	tasks []task
	wire  *wire
	rooms map[int]*room // by rank, for each task that receives input
}

func newRunner(h *here, o *stepOptions) *runner {
	return &runner{here: h, options: o, ends: map[int]ending{}, sent: map[int]time.Time{}, errors: os.Stderr, heard: make(chan struct{}), received: make(chan os.Signal, 16)}
}

func (r *runner) printNotice(text string) {
	if !r.options.quiet {
		fmt.Fprintln(r.errors, "srun:", text)
	}
}
