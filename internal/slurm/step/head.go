package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/usererror"
)

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

// planStep returns the requirements of a step, regardless of other steps. It returns an error if the job can never meet
// them.
func (h *head) planStep(r *beginRequest) (*wish, error) {
	impossible := func(hint, why string) error {
		return usererror.Errorf(hint, "Unable to create step for job %s: %s", h.pod.SlurmJobID(), why)
	}
	candidates, err := h.candidateNodes(r)
	if err != nil {
		return nil, impossible(usererror.FromError(err).Hint, err.Error())
	}
	nodes := r.Nodes
	switch {
	case nodes > len(candidates):
		return nil, impossible(fmt.Sprintf("request at most %d", len(candidates)), "Requested node configuration is not available")
	case nodes == 0 && r.Tasks > 0 && r.PerNode > 0:
		nodes = min(len(candidates), (r.Tasks+r.PerNode-1)/r.PerNode)
	case nodes == 0 && r.Tasks > 0 && len(r.Only) == 0:
		nodes = min(len(candidates), r.Tasks)
	case nodes == 0:
		nodes = len(candidates)
	}
	w := &wish{candidates: candidates, cpus: r.CPUs, overlap: r.Overlap}
	if w.cpus == 0 {
		w.cpus = max(h.spec.CPUsPerTask, 1)
	}
	tasks, perNode := r.Tasks, r.PerNode
	switch {
	case tasks == 0 && perNode > 0:
		tasks = nodes * perNode
	case tasks == 0:
		perNode = h.spec.TasksPerNode
		for _, count := range launchconfig.SpreadTasks(h.spec.DefaultTaskCount(len(h.hosts)), len(h.hosts), perNode)[:nodes] {
			tasks += count
		}
	}
	if perNode > 0 && perNode*nodes < tasks {
		if r.PerNode > 0 {
			return nil, impossible("request more nodes or fewer tasks", "More tasks requested than --ntasks-per-node permits")
		}
		perNode = 0
	}
	if tasks < nodes {
		return nil, impossible(fmt.Sprintf("use --nodes=%d or more tasks", tasks), fmt.Sprintf("%d tasks cannot run on %d nodes", tasks, nodes))
	}
	w.counts = launchconfig.SpreadTasks(tasks, nodes, perNode)
	if slices.Max(w.counts)*w.cpus > h.spec.CPUs && !r.Overlap {
		return nil, impossible(fmt.Sprintf("each node of the job has %d: request fewer, or share processors with --overcommit", h.spec.CPUs), "More processors requested than permitted")
	}
	if r.GPUs != nil {
		each, ok := countGPUsPerNode(r.GPUs, w.counts, h.spec.GPUsOnNode)
		switch {
		case !ok && r.GPUs.Inherited:
			each = nil
		case !ok:
			return nil, impossible("request at most this number", fmt.Sprintf("Invalid generic resource (gres) specification: each node of the job has %d accelerators", h.spec.GPUsOnNode))
		}
		w.gpus = each
	}
	return w, nil
}

// candidateNodes returns the indexes of the nodes that a step may use.
func (h *head) candidateNodes(r *beginRequest) ([]int, error) {
	for _, name := range append(slices.Clone(r.Only), r.Not...) {
		if !slices.Contains(h.hosts, name) {
			return nil, usererror.Errorf("the nodes of the job are "+hostlist.CompressNames(slices.Clone(h.hosts)), "Requested node configuration is not available (%s is not a node of this job)", name)
		}
	}
	var candidates []int
	if len(r.Only) > 0 {
		for _, name := range r.Only {
			candidates = append(candidates, slices.Index(h.hosts, name))
		}
		slices.Sort(candidates)
		return slices.Compact(candidates), nil
	}
	if r.Relative >= len(h.hosts) {
		return nil, usererror.Errorf("nodes are numbered from 0", "Requested node configuration is not available (--relative=%d of %d nodes)", r.Relative, len(h.hosts))
	}
	for i := r.Relative; i < len(h.hosts); i++ {
		if !slices.Contains(r.Not, h.hosts[i]) {
			candidates = append(candidates, i)
		}
	}
	return candidates, nil
}
