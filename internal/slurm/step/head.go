package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/usererror"
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

// answerRequest handles the requests that only the head can handle.
func (h *head) answerRequest(w *wire, r *request) error {
	switch {
	case r.Begin != nil:
		return h.handleStep(w, r.Begin)
	case r.Attach != nil:
		return h.attachViewer(w, r.Attach)
	case r.Job:
		return w.sendJSON(answerFrame, 0, h.describeJob())
	case r.Signal != nil:
		if err := h.answerSignal(r.Signal); err != nil {
			return err
		}
	case r.Notify != "":
		h.notify(r.Notify)
	case r.Limit > 0:
		h.setTimeLimit(r.Limit)
	case r.End != nil:
		h.end(*r.End)
	case r.Session:
		return h.holdSession(w)
	default:
		return usererror.Errorf("submit the job again, so that all of its pods run the same version", "the request is unknown; the pods of the job may run different versions of vc-step")
	}
	return w.sendFrame(answerFrame, 0, []byte("{}"))
}

func (h *head) describeJob() jobAnswer {
	h.mu.Lock()
	defer h.mu.Unlock()
	answer := jobAnswer{Spec: *h.spec, Pod: *h.pod, Hosts: h.hosts, Start: h.start.Unix(), Container: h.container, Script: h.script, Steps: slices.Clone(h.done)}
	for _, s := range h.live {
		answer.Steps = append(answer.Steps, s.Step)
	}
	slices.SortFunc(answer.Steps, func(a, b launchconfig.Step) int { return a.ID - b.ID })
	return answer
}

// setTimeLimit sets the job's time limit, in seconds.
func (h *head) setTimeLimit(limit int64) {
	h.mu.Lock()
	h.spec.TimeLimit = limit
	h.mu.Unlock()
	h.limitChanged()
}

// timeLimit returns the time limit of the job; 0 if none exists.
func (h *head) timeLimit() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.spec.TimeLimit) * time.Second
}

// holdSession keeps an interactive session open until its connection is closed.
func (h *head) holdSession(w *wire) error {
	h.session(true)
	defer h.session(false)
	if err := w.sendFrame(answerFrame, 0, []byte("{}")); err != nil {
		return err
	}
	_, _ = w.receiveFrame()
	return nil
}

// handleStep runs a step: it waits for free processors, sends the step's nodes to srun, and returns when srun has
// ended.
func (h *head) handleStep(w *wire, r *beginRequest) error {
	s, counts, err := h.reserveStep(w, r)
	if err != nil {
		return err
	}
	answer := beginAnswer{Step: s.ID, NodeIDs: s.nodeIDs, Counts: counts, CPUs: h.spec.CPUs, GPUs: s.gpus}
	for _, node := range s.nodeIDs {
		answer.Hosts = append(answer.Hosts, h.hosts[node])
	}
	result := s.Step
	if err = w.sendJSON(answerFrame, 0, answer); err == nil {
		result = h.waitForResult(w, s)
	}
	result.End = h.now().Unix()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, s.ID)
	h.done = append(h.done, result)
	s.view.result = result
	close(s.view.over)
	for i, node := range s.nodeIDs {
		h.used[node] -= s.takes[i]
		if s.gpus != nil && !r.Overlap {
			h.free[node] = slices.Sorted(slices.Values(append(h.free[node], s.gpus[i]...)))
		}
	}
	close(h.freed)
	h.freed = make(chan struct{})
	return nil
}

// waitForResult waits for the result that srun sends when it ends. If srun disconnects without a result, the step
// counts as killed.
func (h *head) waitForResult(w *wire, s *liveStep) launchconfig.Step {
	result := s.Step
	for {
		f, err := w.receiveFrame()
		if err != nil {
			result.Signal, result.Cancelled = int(syscall.SIGKILL), true
			return result
		}
		if f.kind == stdoutFrame || f.kind == stderrFrame {
			h.showOutput(s, f)
			continue
		}
		var told launchconfig.Step
		if f.kind == answerFrame && json.Unmarshal(f.data, &told) == nil {
			result.Code, result.Signal, result.Cancelled, result.Usage = told.Code, told.Signal, told.Cancelled, told.Usage
			_ = w.sendFrame(answerFrame, 0, []byte("{}"))
			return result
		}
	}
}

// reserveStep reserves nodes and processors for a step and waits until they are free.
func (h *head) reserveStep(w *wire, r *beginRequest) (*liveStep, []int, error) {
	want, err := h.planStep(r)
	if err != nil {
		return nil, nil, err
	}
	told := false
	for {
		h.mu.Lock()
		if h.closing {
			h.mu.Unlock()
			return nil, nil, usererror.Errorf("the job is ending: no new steps can start", "Unable to create step for job %s: Job/step already completing or completed", h.pod.SlurmJobID())
		}
		if nodes := want.chooseNodes(h.used, h.spec.CPUs, h.free); nodes != nil {
			s := h.recordStep(w, r, want, nodes)
			h.mu.Unlock()
			return s, want.counts, nil
		}
		freed := h.freed
		h.mu.Unlock()
		if r.Now {
			return nil, nil, usererror.Errorf("omit --immediate to wait for the nodes, or share them with --overlap", "Unable to create step for job %s: Requested nodes are busy", h.pod.SlurmJobID())
		}
		if !told {
			told = true
			if err := w.sendFrame(noticeFrame, 0, fmt.Appendf(nil, "Job %s step creation temporarily disabled, retrying (Requested nodes are busy)", h.pod.SlurmJobID())); err != nil {
				return nil, nil, err
			}
		}
		if !waitUntilFreed(w, freed) {
			return nil, nil, errors.New("the connection to srun was lost")
		}
	}
}

// waitUntilFreed waits until the channel is closed. It returns false if the peer disconnects first.
func waitUntilFreed(w *wire, freed <-chan struct{}) bool {
	for {
		select {
		case <-freed:
			return true
		case <-time.After(100 * time.Millisecond):
		}
		// srun ignores empty notices. Sending one fails if srun has disconnected.
		if w.sendFrame(noticeFrame, 0, nil) != nil {
			return false
		}
	}
}

// recordStep records the resources of a step. The caller must hold the lock.
func (h *head) recordStep(w *wire, r *beginRequest, want *wish, nodes []int) *liveStep {
	s := &liveStep{wire: w, nodeIDs: nodes, view: &view{counts: want.counts, over: make(chan struct{})}, Step: launchconfig.Step{ID: h.next, Name: r.Name, Start: h.now().Unix()}}
	h.next++
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = h.hosts[node]
		cpus := want.counts[i] * want.cpus
		s.Tasks += want.counts[i]
		s.CPUs += cpus
		if r.Overlap {
			cpus = 0
		}
		h.used[node] += cpus
		s.takes = append(s.takes, cpus)
		if want.gpus != nil {
			s.gpus = append(s.gpus, h.reserveGPUs(node, want.gpus[i], r.Overlap))
		}
	}
	s.Nodes = hostlist.CompressNames(names)
	h.live[s.ID] = s
	return s
}

// reserveGPUs returns count accelerators of a node. If overlap is true, it returns the first ones, even if other steps
// use them.
func (h *head) reserveGPUs(node, count int, overlap bool) []int {
	if overlap {
		all := make([]int, count)
		for i := range all {
			all[i] = i
		}
		return all
	}
	taken := slices.Clone(h.free[node][:count])
	h.free[node] = h.free[node][count:]
	return taken
}

// answerLead is the delay between the response to a request and its effect, if the effect may end the process that
// sent the request. It lets the process and its parent see that the command succeeded.
const answerLead = 500 * time.Millisecond

// answerSignal checks that a signal has a target, and then sends it: immediately if r.Now is true, otherwise after
// answerLead.
func (h *head) answerSignal(r *signalRequest) error {
	if !r.Steps && !r.Batch && len(h.wiresForSignal(r)) == 0 {
		return usererror.Errorf("the step has ended or never started: steps are numbered from 0", "Kill job error on job id %s.%d: Invalid job id specified", h.pod.SlurmJobID(), r.Step)
	}
	if r.Now {
		h.sendSignal(r)
	} else {
		time.AfterFunc(answerLead, func() { h.sendSignal(r) })
	}
	return nil
}

// wiresForSignal returns the connections of the steps that must receive a signal.
func (h *head) wiresForSignal(r *signalRequest) []*wire {
	h.mu.Lock()
	defer h.mu.Unlock()
	var wires []*wire
	for id, s := range h.live {
		if r.Steps || r.Step == id {
			wires = append(wires, s.wire)
		}
	}
	return wires
}

// sendSignal sends a signal to steps, the script or both.
func (h *head) sendSignal(r *signalRequest) {
	for _, w := range h.wiresForSignal(r) {
		_ = w.sendFrame(signalFrame, 0, encodeNumber(r.Number))
	}
	if r.Batch && h.signalScript != nil {
		h.signalScript(r.Number, !r.Steps)
	}
}

// rejectSteps rejects new steps, and steps that are waiting for processors.
func (h *head) rejectSteps() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closing = true
	close(h.freed)
	h.freed = make(chan struct{})
}

// cutConnections closes the connections of the running steps, which kills their tasks.
func (h *head) cutConnections() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.live {
		_ = s.wire.Close()
	}
}

func (h *head) countLiveSteps() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}
