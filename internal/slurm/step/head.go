package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// head knows the job's steps: it gives them numbers, nodes and processors, and reaches them with signals.
type head struct {
	spec  *launch.Spec
	pod   *launch.Pod
	hosts []string
	start time.Time
	// container and script are environments: what the container has by itself, what the script was given.
	container, script []string
	now               func() time.Time
	// signalScript reaches the script; alone is without what it started.
	signalScript func(number int, alone bool)
	// notify writes a message to the errors of the script.
	notify func(message string)
	// limitChanged is called when the job has another time limit.
	limitChanged func()
	// end asks the launcher to end the job.
	end func(endRequest)
	// sessions counts interactive sessions that came and went.
	session func(begun bool)

	mu      sync.Mutex // guards what follows
	next    int
	used    []int   // processors by node
	free    [][]int // numbers of accelerators by node
	freed   chan struct{}
	live    map[int]*liveStep
	done    []launch.Step
	closing bool
}

// liveStep is a step whose srun is connected.
type liveStep struct {
	launch.Step
	wire    *wire
	nodeIDs []int
	// takes is how many processors it has of each of its nodes.
	takes []int
	// gpus are the accelerators that it has of each of its nodes; nil when it asked for none in particular.
	gpus [][]int
	// view is what viewers see of it.
	view *view
}

func newHead(spec *launch.Spec, pod *launch.Pod, hosts []string) *head {
	free := make([][]int, len(hosts))
	for i := range free {
		for n := range spec.GPUsOnNode {
			free[i] = append(free[i], n)
		}
	}
	return &head{spec: spec, pod: pod, hosts: hosts, used: make([]int, len(hosts)), free: free, live: map[int]*liveStep{}, freed: make(chan struct{}), now: time.Now}
}

// answer answers what only the head can.
func (h *head) answer(w *wire, r *request) error {
	switch {
	case r.Begin != nil:
		return h.step(w, r.Begin)
	case r.Attach != nil:
		return h.attach(w, r.Attach)
	case r.Job:
		return w.sendJSON(answerFrame, 0, h.job())
	case r.Signal != nil:
		if err := h.answerSignal(r.Signal); err != nil {
			return err
		}
	case r.Notify != "":
		h.notify(r.Notify)
	case r.Limit > 0:
		h.setLimit(r.Limit)
	case r.End != nil:
		h.end(*r.End)
	case r.Session:
		return h.attend(w)
	default:
		return fault.Errorf("submit the job again, so that all of its pods have the same helper", "nothing was asked for that this helper knows; is it of another version?")
	}
	return w.send(answerFrame, 0, []byte("{}"))
}

func (h *head) job() jobAnswer {
	h.mu.Lock()
	defer h.mu.Unlock()
	answer := jobAnswer{Spec: *h.spec, Pod: *h.pod, Hosts: h.hosts, Start: h.start.Unix(), Container: h.container, Script: h.script, Steps: slices.Clone(h.done)}
	for _, s := range h.live {
		answer.Steps = append(answer.Steps, s.Step)
	}
	slices.SortFunc(answer.Steps, func(a, b launch.Step) int { return a.ID - b.ID })
	return answer
}

// setLimit takes another time limit, in seconds.
func (h *head) setLimit(limit int64) {
	h.mu.Lock()
	h.spec.TimeLimit = limit
	h.mu.Unlock()
	h.limitChanged()
}

// limit returns the time limit of the job, 0 if there is none.
func (h *head) limit() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.spec.TimeLimit) * time.Second
}

// attend keeps an interactive session: when its connection ends, so does the allocation.
func (h *head) attend(w *wire) error {
	h.session(true)
	defer h.session(false)
	if err := w.send(answerFrame, 0, []byte("{}")); err != nil {
		return err
	}
	_, _ = w.receive()
	return nil
}

// step runs a step: it waits for processors, answers with nodes, and ends with srun.
func (h *head) step(w *wire, r *beginRequest) error {
	s, counts, err := h.begin(w, r)
	if err != nil {
		return err
	}
	answer := beginAnswer{Step: s.ID, NodeIDs: s.nodeIDs, Counts: counts, CPUs: h.spec.CPUs, GPUs: s.gpus}
	for _, node := range s.nodeIDs {
		answer.Hosts = append(answer.Hosts, h.hosts[node])
	}
	result := s.Step
	if err = w.sendJSON(answerFrame, 0, answer); err == nil {
		result = h.outcome(w, s)
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

// outcome waits for what srun says at its end; one that says nothing was killed.
func (h *head) outcome(w *wire, s *liveStep) launch.Step {
	result := s.Step
	for {
		f, err := w.receive()
		if err != nil {
			result.Signal, result.Cancelled = int(syscall.SIGKILL), true
			return result
		}
		if f.kind == stdoutFrame || f.kind == stderrFrame {
			h.show(s, f)
			continue
		}
		var told launch.Step
		if f.kind == answerFrame && json.Unmarshal(f.data, &told) == nil {
			result.Code, result.Signal, result.Cancelled, result.Usage = told.Code, told.Signal, told.Cancelled, told.Usage
			_ = w.send(answerFrame, 0, []byte("{}"))
			return result
		}
	}
}

// begin takes nodes and processors for a step.
func (h *head) begin(w *wire, r *beginRequest) (*liveStep, []int, error) {
	want, err := h.plan(r)
	if err != nil {
		return nil, nil, err
	}
	told := false
	for {
		h.mu.Lock()
		if h.closing {
			h.mu.Unlock()
			return nil, nil, fault.Errorf("the job ends, and no more steps begin", "Unable to create step for job %s: Job/step already completing or completed", h.pod.ID())
		}
		if nodes := want.choose(h.used, h.spec.CPUs, h.free); nodes != nil {
			s := h.take(w, r, want, nodes)
			h.mu.Unlock()
			return s, want.counts, nil
		}
		freed := h.freed
		h.mu.Unlock()
		if r.Now {
			return nil, nil, fault.Errorf("leave --immediate away to wait for them, or share them with --overlap", "Unable to create step for job %s: Requested nodes are busy", h.pod.ID())
		}
		if !told {
			told = true
			if err := w.send(noticeFrame, 0, fmt.Appendf(nil, "Job %s step creation temporarily disabled, retrying (Requested nodes are busy)", h.pod.ID())); err != nil {
				return nil, nil, err
			}
		}
		if !waitFor(w, freed) {
			return nil, nil, errors.New("srun is gone")
		}
	}
}

// waitFor waits for a channel; false when the other side is gone before.
func waitFor(w *wire, freed <-chan struct{}) bool {
	for {
		select {
		case <-freed:
			return true
		case <-time.After(100 * time.Millisecond):
		}
		// An empty message of no kind is passed over by srun, and fails when there is none.
		if w.send(noticeFrame, 0, nil) != nil {
			return false
		}
	}
}

// take books a step; the caller holds the lock.
func (h *head) take(w *wire, r *beginRequest, want *wish, nodes []int) *liveStep {
	s := &liveStep{wire: w, nodeIDs: nodes, view: &view{counts: want.counts, over: make(chan struct{})}, Step: launch.Step{ID: h.next, Name: r.Name, Start: h.now().Unix()}}
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
			s.gpus = append(s.gpus, h.takeGPUs(node, want.gpus[i], r.Overlap))
		}
	}
	s.Nodes = hostlist.Compress(names)
	h.live[s.ID] = s
	return s
}

// takeGPUs takes so many accelerators of a node; with overlap the first ones, whoever has them.
func (h *head) takeGPUs(node, count int, overlap bool) []int {
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

// answerLead is how long after its answer a request takes effect that may end the process that asked. The process and its parent then see that the
// command succeeded.
const answerLead = 500 * time.Millisecond

// answerSignal checks that a signal has a target. It sends the signal at once, or after the answer.
func (h *head) answerSignal(r *signalRequest) error {
	if !r.Steps && !r.Batch && len(h.wiresOf(r)) == 0 {
		return fault.Errorf("it is over, or was never begun: steps are numbered from 0", "Kill job error on job id %s.%d: Invalid job id specified", h.pod.ID(), r.Step)
	}
	if r.Now {
		h.signal(r)
	} else {
		time.AfterFunc(answerLead, func() { h.signal(r) })
	}
	return nil
}

// wiresOf returns the connections of the steps that a signal is for.
func (h *head) wiresOf(r *signalRequest) []*wire {
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

// signal sends a signal to steps and script.
func (h *head) signal(r *signalRequest) {
	for _, w := range h.wiresOf(r) {
		_ = w.send(signalFrame, 0, numberBytes(r.Number))
	}
	if r.Batch && h.signalScript != nil {
		h.signalScript(r.Number, !r.Steps)
	}
}

// close lets no more steps begin, and returns those that there were.
func (h *head) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closing = true
	close(h.freed)
	h.freed = make(chan struct{})
}

// cut ends the connections of steps that go on; their tasks are killed.
func (h *head) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.live {
		_ = s.wire.Close()
	}
}

func (h *head) liveSteps() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}
