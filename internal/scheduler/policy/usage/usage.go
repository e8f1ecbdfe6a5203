// Package usage evaluates nodes by their actual load. Nodes above a threshold accept no pods, and among the others
// the least loaded nodes score highest. Measurements do not include recently placed pods yet, so their load is
// estimated.
//
//	In:   model.Nodes.Usage, as measured by the source of load metrics
//	Out:  closed nodes, and a score for every node
//
// Both are tables by node that the judge reads, so that no pod requires a scan of all nodes.
package usage

import (
	"fmt"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/nodecache"
	"github.com/vc-batch/vc/internal/scheduler/score"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	// stale is the age at which a measurement becomes too old to be used.
	stale = 5 * time.Minute
	// unseen is how long a pod must have been running before a measurement includes its load.
	unseen = 30 * time.Second
)

// Policy implements the usage policy.
type Policy struct {
	conf                      config.Plugin
	weight                    float64
	cpuWeight, memoryWeight   float64
	cpuPercent, memoryPercent float64
	guess                     estimator

	s       *session.Session
	nodes   nodecache.Table[load]
	fresh   []bool // by model.NodeID: whether the measurement is recent enough
	closing fit.Closing
	bonus   score.Bonus
	tried   []model.NodeID // nodes on which this cycle places pods
	placed  map[*model.Task]bool
}

// load is the measured load of a node. The shadow fields estimate the load of tasks that no measurement includes yet.
// They are whole numbers, so that the order of additions does not matter.
type load struct {
	model.NodeUsage
	shadowCPU, shadowMemory int64
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	p := &Policy{conf: conf, placed: map[*model.Task]bool{}}
	weight := func(key string, def int) float64 {
		v := conf.Arguments.Int(key, def, warn)
		if v < 0 {
			v = def
		}
		return float64(v)
	}
	p.weight, p.cpuWeight, p.memoryWeight = weight("usage.weight", 5), weight("cpu.weight", 1), weight("memory.weight", 1)
	limits := parseSection(conf.Arguments["thresholds"], "thresholds", warn)
	limits.WarnUnknown("thresholds", warn, "cpu", "mem")
	limits = limits.InSection("thresholds")
	p.cpuPercent, p.memoryPercent = limits.Percent("thresholds.cpu", 80, warn), limits.Percent("thresholds.mem", 80, warn)
	p.guess = newEstimator(parseSection(conf.Arguments["estimator"], "estimator", warn), warn)
	p.closing.Why = p.explainOverload
	return p
}

func parseSection(raw any, name string, warn func(string)) config.Arguments {
	out, ok := raw.(map[string]any)
	if raw != nil && !ok && warn != nil {
		warn(fmt.Sprintf("argument %s: must be a map, not %v; the default is used", name, raw))
	}
	return out
}

// Name returns "usage".
func (*Policy) Name() string { return "usage" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Configure adds the tables of closed nodes and scores to the judge.
func (p *Policy) Configure(j *equivalence.Judge) {
	if p.conf.Enabled("enablePredicate") {
		j.Filters.Closed = append(j.Filters.Closed, &p.closing)
	}
	if p.conf.Enabled("enableNodeOrder") && p.weight > 0 && p.cpuWeight+p.memoryWeight > 0 {
		j.Weights.Bonuses = append(j.Weights.Bonuses, &p.bonus)
	}
}

// Open updates the tables for the current measurements, and registers a rule that adds estimates for placed tasks.
func (p *Policy) Open(s *session.Session) {
	p.s = s
	for _, id := range p.tried { // undo the estimates for placements of the last cycle
		if int(id) < len(p.nodes.Values) && int(id) < s.Cluster.Nodes.Len() {
			p.nodes.Values[id] = p.readNodeLoad(id)
			p.updateNode(id)
		}
	}
	p.tried = p.tried[:0]
	clear(p.placed)
	p.nodes.Update(s.Cluster, p.readNodeLoad, func(id model.NodeID, _, _ load) { p.updateNode(id) })
	for id := range p.nodes.Values { // measurements may have become too old
		if p.hasFreshLoad(model.NodeID(id)) != p.fresh[id] {
			p.updateNode(model.NodeID(id))
		}
		if p.closing.At[id] {
			s.WakeAt(p.nodes.Values[id].At.Add(stale + time.Second))
		}
	}
	s.Rules.Nodes = append(s.Rules.Nodes, framework.NodeRule{
		Name:    p.Name(),
		Applies: func(*framework.Job, *model.Task) bool { return false }, // the tables contain everything
		Placed: func(_ *framework.Job, t *model.Task, id model.NodeID, sign int) {
			if sign < 0 && !p.placed[t] {
				return // a promise from an earlier cycle, which was not counted
			}
			p.placed[t] = sign > 0
			p.addPlacedEstimate(t, id, int64(sign))
		},
	})
}

func (p *Policy) readNodeLoad(id model.NodeID) load {
	nodes := &p.s.Cluster.Nodes
	l := load{NodeUsage: nodes.Usage[id]}
	if !nodes.Alive[id] || l.At.IsZero() {
		return l
	}
	for _, t := range nodes.Tasks[id] {
		if p.isUnmeasured(t, l.At) {
			l.addEstimate(&p.guess, p.isHighlyLoaded(&l.NodeUsage), t, 1)
		}
	}
	return l
}

// isUnmeasured reports whether a measurement does not yet include the load of a task.
func (p *Policy) isUnmeasured(t *model.Task, at time.Time) bool {
	switch t.Status {
	case model.Binding, model.Bound:
		return true
	case model.Running:
		return t.Started.After(at.Add(-unseen))
	}
	return false
}

func (l *load) addEstimate(e *estimator, risky bool, t *model.Task, sign int64) {
	cpu, memory := e.estimateLoad(t.Shape, risky)
	l.shadowCPU += sign * cpu
	l.shadowMemory += sign * memory
}

// addPlacedEstimate adds the estimated load of a task that was placed in this cycle, or removes it if the placement is
// undone.
func (p *Policy) addPlacedEstimate(t *model.Task, id model.NodeID, sign int64) {
	if int(id) >= len(p.nodes.Values) || p.nodes.Values[id].At.IsZero() {
		return
	}
	l := &p.nodes.Values[id]
	l.addEstimate(&p.guess, p.isHighlyLoaded(&l.NodeUsage), t, sign)
	p.tried = append(p.tried, id)
	p.bonus.Points[id] = p.scoreNodeByLoad(id)
}

// isHighlyLoaded reports whether a node is so loaded that estimates are increased.
func (p *Policy) isHighlyLoaded(u *model.NodeUsage) bool {
	sum := p.cpuWeight + p.memoryWeight
	return sum > 0 && (p.cpuWeight*u.CPUPercent+p.memoryWeight*u.MemoryPercent)/sum/100 >= p.guess.riskThreshold
}

func (p *Policy) hasFreshLoad(id model.NodeID) bool {
	l := &p.nodes.Values[id]
	return !l.At.IsZero() && p.s.Now.Sub(l.At) <= stale
}

// updateNode updates a node's entries in the tables, and marks the node as changed if they differ.
func (p *Policy) updateNode(id model.NodeID) {
	for n := len(p.nodes.Values); len(p.fresh) < n; {
		p.fresh = append(p.fresh, false)
		p.closing.At = append(p.closing.At, false)
		p.bonus.Points = append(p.bonus.Points, 0)
	}
	l := &p.nodes.Values[id]
	p.fresh[id] = p.hasFreshLoad(id)
	closed := p.fresh[id] && (l.CPUPercent > p.cpuPercent || l.MemoryPercent > p.memoryPercent)
	points := p.scoreNodeByLoad(id)
	if closed != p.closing.At[id] || points != p.bonus.Points[id] {
		opened := p.closing.At[id] && !closed
		p.closing.At[id], p.bonus.Points[id] = closed, points
		if int(id) < len(p.s.View.Rank) {
			p.s.View.MarkChanged(id, opened)
		}
	}
}

// scoreNodeByLoad returns the score of a node: higher for less loaded nodes, and 0 if the load is unknown.
func (p *Policy) scoreNodeByLoad(id model.NodeID) float64 {
	if !p.fresh[id] {
		return 0
	}
	l := &p.nodes.Values[id]
	nodes := &p.s.Cluster.Nodes
	base := int(id) * nodes.Stride
	free := func(percent float64, shadow, alloc int64) float64 {
		used := percent / 100
		if alloc > 0 {
			used += float64(shadow) / float64(alloc)
		}
		return 1 - min(max(used, 0), 1)
	}
	sum := p.cpuWeight*free(l.CPUPercent, l.shadowCPU, nodes.Alloc[base+resource.CPU]) +
		p.memoryWeight*free(l.MemoryPercent, l.shadowMemory, nodes.Alloc[base+resource.Memory])
	return sum / max(p.cpuWeight+p.memoryWeight, 1e-9) * 100 * p.weight
}

// explainOverload returns a reason that names the load of a node that is over its threshold.
func (p *Policy) explainOverload(id model.NodeID) (reason.Code, string) {
	if p.nodes.Values[id].CPUPercent > p.cpuPercent {
		return reason.NodeOverloaded, fmt.Sprintf("cpu over %g%%", p.cpuPercent)
	}
	return reason.NodeOverloaded, fmt.Sprintf("memory over %g%%", p.memoryPercent)
}
