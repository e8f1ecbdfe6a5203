// Package stepmgr manages the steps of a job in the job's head, as slurmstepmgr does in Slurm. It assigns numbers,
// nodes, processors and accelerators to the steps, records how they ended, forwards signals to them, and forwards their
// output to sattach.
//
//	In:   a protocol.Request for each connection
//	Out:  responses and frames; the records of the steps (DescribeJob)
//
// # Invariants
//
//   - A step exists as long as the connection to its srun.
//   - Steps that do not overlap never use the same processor or accelerator.
//
// # Concurrency
//
// Each connection has its own goroutine. The Manager's mutex guards the records of the steps.
package stepmgr

import (
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// Manager manages the job's steps. It assigns numbers, nodes, processors and accelerators to them, and forwards signals
// to them.
type Manager struct {
	spec  *launchconfig.Spec
	pod   *launchconfig.Pod
	hosts []string
	// Start is the time from which the job's run time is counted.
	Start time.Time
	// ContainerEnvironment is the environment of the container, and ScriptEnvironment is the
	// environment of the job's script.
	ContainerEnvironment, ScriptEnvironment []string
	now                                     func() time.Time
	// SignalScript sends a signal to the script. If alone is true, the processes that the script started do not receive
	// the signal.
	SignalScript func(number int, alone bool)
	// Notify writes a message to the script's error output.
	Notify func(message string)
	// LimitChanged is called after the job's time limit has changed.
	LimitChanged func()
	// EndJob requests that the launcher end the job.
	EndJob func(protocol.EndRequest)
	// Session is called when an interactive session begins or ends.
	Session func(begun bool)

	mu      sync.Mutex // guards the fields below
	next    int
	used    []int   // number of processors in use, by node
	free    [][]int // numbers of the free accelerators, by node
	freed   chan struct{}
	live    map[int]*liveStep
	done    []launchconfig.Step
	closing bool
}

// liveStep is a step whose srun is connected.
type liveStep struct {
	launchconfig.Step
	conn    *protocol.Conn
	nodeIDs []int
	// takes is the number of processors that the step uses on each of its nodes.
	takes []int
	// gpus lists the step's accelerators on each of its nodes. It is nil if the step did not request accelerators.
	gpus [][]int
	// view holds the part of the step that viewers see.
	view *view
}

// New returns a manager without steps. hosts lists the nodes on which steps may run.
func New(spec *launchconfig.Spec, pod *launchconfig.Pod, hosts []string) *Manager {
	free := make([][]int, len(hosts))
	for i := range free {
		for n := range spec.GPUsOnNode {
			free[i] = append(free[i], n)
		}
	}
	return &Manager{spec: spec, pod: pod, hosts: hosts, used: make([]int, len(hosts)), free: free, live: map[int]*liveStep{}, freed: make(chan struct{}), now: time.Now}
}
