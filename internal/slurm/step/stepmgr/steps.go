package stepmgr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/usererror"
)

// AnswerRequest handles the requests that only the head can handle, and sends the responses.
func (m *Manager) AnswerRequest(conn *protocol.Conn, r *protocol.Request) error {
	switch {
	case r.Begin != nil:
		return m.handleStep(conn, r.Begin)
	case r.Attach != nil:
		return m.attachViewer(conn, r.Attach)
	case r.Job:
		return conn.SendJSON(protocol.AnswerFrame, 0, m.DescribeJob())
	case r.Signal != nil:
		if err := m.answerSignal(r.Signal); err != nil {
			return err
		}
	case r.Notify != "":
		m.Notify(r.Notify)
	case r.Limit > 0:
		m.setTimeLimit(r.Limit)
	case r.End != nil:
		m.EndJob(*r.End)
	case r.Session:
		return m.holdSession(conn)
	default:
		return usererror.Errorf("submit the job again, so that all of its pods run the same version", "unknown request: the job's pods might run different versions of vc-step")
	}
	return conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}"))
}

// DescribeJob returns the description of the job, which includes the records of all its steps.
func (m *Manager) DescribeJob() protocol.JobAnswer {
	m.mu.Lock()
	defer m.mu.Unlock()
	answer := protocol.JobAnswer{Spec: *m.spec, Pod: *m.pod, Hosts: m.hosts, Start: m.Start.Unix(), Container: m.ContainerEnvironment, Script: m.ScriptEnvironment, Steps: slices.Clone(m.done)}
	for _, s := range m.live {
		answer.Steps = append(answer.Steps, s.Step)
	}
	slices.SortFunc(answer.Steps, func(a, b launchconfig.Step) int { return a.ID - b.ID })
	return answer
}

// setTimeLimit sets the job's time limit, in seconds.
func (m *Manager) setTimeLimit(limit int64) {
	m.mu.Lock()
	m.spec.TimeLimit = limit
	m.mu.Unlock()
	m.LimitChanged()
}

// TimeLimit returns the time limit of the job, or 0 if there is no limit.
func (m *Manager) TimeLimit() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Duration(m.spec.TimeLimit) * time.Second
}

// holdSession keeps an interactive session open until its connection is closed.
func (m *Manager) holdSession(conn *protocol.Conn) error {
	m.Session(true)
	defer m.Session(false)
	if err := conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}")); err != nil {
		return err
	}
	_, _ = conn.ReceiveFrame()
	return nil
}

// handleStep runs a step. It waits for free processors, sends the step's nodes to srun, and returns after srun has
// ended.
func (m *Manager) handleStep(conn *protocol.Conn, r *protocol.BeginRequest) error {
	s, counts, err := m.reserveStep(conn, r)
	if err != nil {
		return err
	}
	answer := protocol.BeginAnswer{Step: s.ID, NodeIDs: s.nodeIDs, Counts: counts, CPUs: m.spec.CPUs, GPUs: s.gpus}
	for _, node := range s.nodeIDs {
		answer.Hosts = append(answer.Hosts, m.hosts[node])
	}
	result := s.Step
	if err = conn.SendJSON(protocol.AnswerFrame, 0, answer); err == nil {
		result = m.waitForResult(conn, s)
	}
	result.End = m.now().Unix()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, s.ID)
	m.done = append(m.done, result)
	s.view.result = result
	close(s.view.over)
	for i, node := range s.nodeIDs {
		m.used[node] -= s.takes[i]
		if s.gpus != nil && !r.Overlap {
			m.free[node] = slices.Sorted(slices.Values(append(m.free[node], s.gpus[i]...)))
		}
	}
	close(m.freed)
	m.freed = make(chan struct{})
	return nil
}

// waitForResult waits for the result that srun sends when it ends. If srun disconnects without a result, the step
// counts as killed.
func (m *Manager) waitForResult(conn *protocol.Conn, s *liveStep) launchconfig.Step {
	result := s.Step
	for {
		f, err := conn.ReceiveFrame()
		if err != nil {
			result.Signal, result.Cancelled = int(syscall.SIGKILL), true
			return result
		}
		if f.Kind == protocol.StdoutFrame || f.Kind == protocol.StderrFrame {
			m.showOutput(s, f)
			continue
		}
		var reported launchconfig.Step
		if f.Kind == protocol.AnswerFrame && json.Unmarshal(f.Data, &reported) == nil {
			result.Code, result.Signal, result.Cancelled, result.Usage = reported.Code, reported.Signal, reported.Cancelled, reported.Usage
			_ = conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}"))
			return result
		}
	}
}

// reserveStep waits until the nodes and processors that a step requires are free, and reserves them.
func (m *Manager) reserveStep(conn *protocol.Conn, r *protocol.BeginRequest) (*liveStep, []int, error) {
	want, err := m.planStep(r)
	if err != nil {
		return nil, nil, err
	}
	reported := false
	for {
		m.mu.Lock()
		if m.closing {
			m.mu.Unlock()
			return nil, nil, usererror.Errorf("the job is ending: no new steps can start", "Unable to create step for job %s: Job/step already completing or completed", m.pod.SlurmJobID())
		}
		if nodes := want.chooseNodes(m.used, m.spec.CPUs, m.free); nodes != nil {
			s := m.recordStep(conn, r, want, nodes)
			m.mu.Unlock()
			return s, want.counts, nil
		}
		freed := m.freed
		m.mu.Unlock()
		if r.Now {
			return nil, nil, usererror.Errorf("omit --immediate to wait for the nodes, or use --overlap to share processors with other steps", "Unable to create step for job %s: Requested nodes are busy", m.pod.SlurmJobID())
		}
		if !reported {
			reported = true
			if err := conn.SendFrame(protocol.NoticeFrame, 0, fmt.Appendf(nil, "Job %s step creation temporarily disabled, retrying (Requested nodes are busy)", m.pod.SlurmJobID())); err != nil {
				return nil, nil, err
			}
		}
		if !waitUntilFreed(conn, freed) {
			return nil, nil, errors.New("the connection to srun was lost")
		}
	}
}

// waitUntilFreed waits until the channel is closed. It returns false if the peer disconnects first.
func waitUntilFreed(conn *protocol.Conn, freed <-chan struct{}) bool {
	for {
		select {
		case <-freed:
			return true
		case <-time.After(100 * time.Millisecond):
		}
		// srun ignores empty notices. Sending one fails if srun has disconnected.
		if conn.SendFrame(protocol.NoticeFrame, 0, nil) != nil {
			return false
		}
	}
}

// recordStep assigns a number and resources to a step and records the step. The caller must hold the lock.
func (m *Manager) recordStep(conn *protocol.Conn, r *protocol.BeginRequest, want *requirements, nodes []int) *liveStep {
	s := &liveStep{conn: conn, nodeIDs: nodes, view: &view{counts: want.counts, over: make(chan struct{})}, Step: launchconfig.Step{ID: m.next, Name: r.Name, Start: m.now().Unix()}}
	m.next++
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = m.hosts[node]
		cpus := want.counts[i] * want.cpus
		s.Tasks += want.counts[i]
		s.CPUs += cpus
		if r.Overlap {
			cpus = 0
		}
		m.used[node] += cpus
		s.takes = append(s.takes, cpus)
		if want.gpus != nil {
			s.gpus = append(s.gpus, m.reserveGPUs(node, want.gpus[i], r.Overlap))
		}
	}
	s.Nodes = hostlist.CompressNames(names)
	m.live[s.ID] = s
	return s
}

// reserveGPUs reserves count accelerators on a node and returns their numbers. If overlap is true, it returns the first
// accelerators without reserving them, even if other steps use them.
func (m *Manager) reserveGPUs(node, count int, overlap bool) []int {
	if overlap {
		all := make([]int, count)
		for i := range all {
			all[i] = i
		}
		return all
	}
	taken := slices.Clone(m.free[node][:count])
	m.free[node] = m.free[node][count:]
	return taken
}

// AnswerLead is the delay between the response to a request and the effect of the request, if the effect may end the
// process that sent the request. The delay lets the process and its parent see that the command succeeded.
const AnswerLead = 500 * time.Millisecond

// answerSignal checks that a signal has a target, and then sends the signal. It sends the signal immediately if r.Now
// is true, and after AnswerLead otherwise.
func (m *Manager) answerSignal(r *protocol.SignalRequest) error {
	if !r.Steps && !r.Batch && len(m.wiresForSignal(r)) == 0 {
		return usererror.Errorf("the step has ended or was never started; steps are numbered from 0", "Kill job error on job id %s.%d: Invalid job id specified", m.pod.SlurmJobID(), r.Step)
	}
	if r.Now {
		m.SendSignal(r)
	} else {
		time.AfterFunc(AnswerLead, func() { m.SendSignal(r) })
	}
	return nil
}

// wiresForSignal returns the connections of the steps that must receive a signal.
func (m *Manager) wiresForSignal(r *protocol.SignalRequest) []*protocol.Conn {
	m.mu.Lock()
	defer m.mu.Unlock()
	var conns []*protocol.Conn
	for id, s := range m.live {
		if r.Steps || r.Step == id {
			conns = append(conns, s.conn)
		}
	}
	return conns
}

// SendSignal sends a signal to steps, to the script, or to both.
func (m *Manager) SendSignal(r *protocol.SignalRequest) {
	for _, conn := range m.wiresForSignal(r) {
		_ = conn.SendFrame(protocol.SignalFrame, 0, protocol.EncodeNumber(r.Number))
	}
	if r.Batch && m.SignalScript != nil {
		m.SignalScript(r.Number, !r.Steps)
	}
}

// RejectSteps rejects new steps and the steps that are waiting for processors.
func (m *Manager) RejectSteps() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closing = true
	close(m.freed)
	m.freed = make(chan struct{})
}

// CutConnections closes the connections of the running steps, which kills their tasks.
func (m *Manager) CutConnections() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.live {
		_ = s.conn.Close()
	}
}

// CountLiveSteps returns the number of running steps.
func (m *Manager) CountLiveSteps() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.live)
}

// planStep returns the requirements of a step, regardless of other steps. It returns an error if the job can never meet
// these requirements.
func (m *Manager) planStep(r *protocol.BeginRequest) (*requirements, error) {
	impossible := func(hint, why string) error {
		return usererror.Errorf(hint, "Unable to create step for job %s: %s", m.pod.SlurmJobID(), why)
	}
	candidates, err := m.candidateNodes(r)
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
	w := &requirements{candidates: candidates, cpus: r.CPUs, overlap: r.Overlap}
	if w.cpus == 0 {
		w.cpus = max(m.spec.CPUsPerTask, 1)
	}
	tasks, perNode := r.Tasks, r.PerNode
	switch {
	case tasks == 0 && perNode > 0:
		tasks = nodes * perNode
	case tasks == 0:
		perNode = m.spec.TasksPerNode
		for _, count := range launchconfig.SpreadTasks(m.spec.DefaultTaskCount(len(m.hosts)), len(m.hosts), perNode)[:nodes] {
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
		return nil, impossible(fmt.Sprintf("use --nodes=%d, or request more tasks", tasks), fmt.Sprintf("%d tasks are too few for %d nodes", tasks, nodes))
	}
	w.counts = launchconfig.SpreadTasks(tasks, nodes, perNode)
	if slices.Max(w.counts)*w.cpus > m.spec.CPUs && !r.Overlap {
		return nil, impossible(fmt.Sprintf("each node of the job has %d processors: request fewer, or use --overcommit to run more tasks than processors", m.spec.CPUs), "More processors requested than permitted")
	}
	if r.GPUs != nil {
		each, ok := countGPUsPerNode(r.GPUs, w.counts, m.spec.GPUsOnNode)
		switch {
		case !ok && r.GPUs.Inherited:
			each = nil
		case !ok:
			return nil, impossible("request at most this number of accelerators per node", fmt.Sprintf("Invalid generic resource (gres) specification: each node of the job has %d accelerators", m.spec.GPUsOnNode))
		}
		w.gpus = each
	}
	return w, nil
}

// candidateNodes returns the indexes of the nodes that a step may use.
func (m *Manager) candidateNodes(r *protocol.BeginRequest) ([]int, error) {
	for _, name := range append(slices.Clone(r.Only), r.Not...) {
		if !slices.Contains(m.hosts, name) {
			return nil, usererror.Errorf("the job's nodes are "+hostlist.CompressNames(slices.Clone(m.hosts)), "Requested node configuration is not available (%s is not a node of this job)", name)
		}
	}
	var candidates []int
	if len(r.Only) > 0 {
		for _, name := range r.Only {
			candidates = append(candidates, slices.Index(m.hosts, name))
		}
		slices.Sort(candidates)
		return slices.Compact(candidates), nil
	}
	if r.Relative >= len(m.hosts) {
		return nil, usererror.Errorf("nodes are numbered from 0", "Requested node configuration is not available (--relative=%d, but the job has %d nodes)", r.Relative, len(m.hosts))
	}
	for i := r.Relative; i < len(m.hosts); i++ {
		if !slices.Contains(r.Not, m.hosts[i]) {
			candidates = append(candidates, i)
		}
	}
	return candidates, nil
}
