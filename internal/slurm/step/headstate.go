package step

import (
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// head manages the job's steps: it assigns their numbers, nodes, processors and accelerators, and forwards signals to
// them.
type head struct {
	spec  *launchconfig.Spec
	pod   *launchconfig.Pod
	hosts []string
	start time.Time
	// container is the environment of the container, and script is the environment of the job's script.
	container, script []string
	now               func() time.Time
	// signalScript sends a signal to the script. If alone is true, processes that the script started do not receive
	// the signal.
	signalScript func(number int, alone bool)
	// notify writes a message to the script's error output.
	notify func(message string)
	// rescheduleSignal is called after the job's time limit has changed.
	limitChanged func()
	// end asks the launcher to end the job.
	end func(endRequest)
	// session is called when an interactive session begins or ends.
	session func(begun bool)

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
	wire    *wire
	nodeIDs []int
	// takes is the number of processors that the step uses on each of its nodes.
	takes []int
	// gpus lists the step's accelerators on each of its nodes; it is nil if the step did not request any of its own.
	gpus [][]int
	// view holds the part of the step that viewers see.
	view *view
}

func newHead(spec *launchconfig.Spec, pod *launchconfig.Pod, hosts []string) *head {
	free := make([][]int, len(hosts))
	for i := range free {
		for n := range spec.GPUsOnNode {
			free[i] = append(free[i], n)
		}
	}
	return &head{spec: spec, pod: pod, hosts: hosts, used: make([]int, len(hosts)), free: free, live: map[int]*liveStep{}, freed: make(chan struct{}), now: time.Now}
}
