// Package overcommit limits the total request of admitted gangs to the cluster's capacity times a factor. Admitting
// more would only create pods that wait.
//
//	In:   what nodes have and hold, what admitted gangs still request
//	Out:  rules Enqueueable and Enqueued
//
// # Invariants
//
//   - A gang with which its queue requests no more than it is entitled to is admitted however full the cluster is.
//     What other queues hold beyond their shares can be reclaimed for it, but only for admitted gangs.
//   - A gang that requests no more than the limit is admitted if no other gang holds or reserves any of the resources
//     that would exceed it. Resources of pods outside of queues may never become free, and smaller pods of the gang
//     may start.
//   - What a gang already holds is not counted twice.
package overcommit

import (
	"math"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	factorArgument = "overcommit-factor"
	usualFactor    = 1.2
)

// Policy is the policy overcommit.
type Policy struct {
	conf   config.Plugin
	factor float64
}

// New returns the policy. It replaces a factor below 1 by the default.
func New(conf config.Plugin, warn func(string)) *Policy {
	factor := conf.Arguments.Float(factorArgument, usualFactor, warn)
	if !(factor >= 1) || factor > 1e6 {
		warn("argument overcommit-factor: want 1 or more (and at most 1000000); 1.2 is used")
		factor = usualFactor
	}
	return &Policy{conf: conf, factor: factor}
}

// Name returns overcommit.
func (*Policy) Name() string { return "overcommit" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules. The sums are computed when first needed.
func (p *Policy) Open(s *session.Session) {
	if !p.conf.Enabled("enableJobEnqueued") {
		return
	}
	g := &gate{s: s, factor: p.factor}
	s.Rules.Vote(g.vote)
	s.Rules.Enqueued = append(s.Rules.Enqueued, g.enqueued)
}

// gate holds the sums of one cycle.
type gate struct {
	s      *session.Session
	factor float64
	loaded bool
	// limit is the cluster's capacity times the factor. used is held by pods on nodes or promised there; inQueues
	// is the part of it held by pods of queues. promised is admitted and has no nodes.
	limit, used, inQueues, promised []float64
}

func (g *gate) load() {
	if g.loaded {
		return
	}
	g.loaded = true
	n := len(g.s.Ledger.Total)
	g.limit, g.used, g.inQueues, g.promised = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range g.s.Ledger.Total {
		g.limit[i] = math.Floor(v*g.factor + queue.Epsilon) // a request of a part of a unit is not possible
	}
	nodes := &g.s.Cluster.Nodes
	for _, id := range g.s.View.Order {
		leaving, coming := nodes.Row(nodes.Releasing, id), nodes.Row(nodes.Pipelined, id)
		for i, v := range nodes.Row(nodes.Used, id) {
			if i < n {
				g.used[i] += float64(v - leaving[i] + coming[i])
			}
		}
	}
	for _, q := range g.s.Ledger.Queues {
		for i, v := range q.Own.Inqueue {
			g.promised[i] += v
			g.inQueues[i] += q.Own.Allocated[i]
		}
		if lapsed := g.s.Lapsed(q); q.Parent == nil && lapsed != nil { // the reservations of lapsed gangs are not needed
			for i, v := range lapsed {
				g.promised[i] -= v
			}
		}
	}
}

// vote reports whether the gang's minimum fits.
func (g *gate) vote(j *session.Job) (session.Vote, explain.Verdict) {
	if j.In.Grows() { // the cluster grows with the queue
		return session.Abstain, explain.Verdict{}
	}
	g.load()
	over := g.over(j)
	if len(over) == 0 || g.entitled(j) {
		return session.Permit, explain.Verdict{}
	}
	return session.Reject, explain.Verdict{Code: reason.Overcommitted, Limit: &over[0], More: over[1:]}
}

// over returns the limits, by resource name, that would be exceeded. If some would be exceeded on an unused cluster, it
// returns only these.
func (g *gate) over(j *session.Job) []explain.Limit {
	var exceeded, impossible []explain.Limit
	yields := g.s.Takeable(j)
	for _, t := range j.MinResources {
		i := int(t.Index)
		if !g.exceeds(i, float64(t.Value), float64(yields.Get(i))) {
			continue
		}
		limit := explain.Limit{
			Queue: j.In.Name, Cluster: true, Resource: g.s.Cluster.Resources.Name(i), Asked: float64(t.Value),
			Held: g.used[i], Promised: max(g.promised[i], 0), Limit: g.limit[i],
		}
		exceeded = append(exceeded, limit)
		if limit.Asked > limit.Limit+queue.Epsilon {
			impossible = append(impossible, limit)
		}
	}
	if len(impossible) > 0 {
		exceeded = impossible
	}
	slices.SortFunc(exceeded, func(a, b explain.Limit) int { return strings.Compare(a.Resource, b.Resource) })
	return exceeded
}

// exceeds reports whether the limit of a resource would be exceeded. What the gang may take from other gangs of its
// queue, yields, does not count, because it can take that only after admission.
func (g *gate) exceeds(i int, asked, yields float64) bool {
	promised := max(g.promised[i], 0)
	if asked+promised+g.used[i]-yields <= g.limit[i]+queue.Epsilon {
		return false
	}
	idle := promised+g.inQueues[i]-yields <= queue.Epsilon
	return !idle || asked > g.limit[i]+queue.Epsilon
}

// entitled reports whether the queue would stay within its entitlement.
func (g *gate) entitled(j *session.Job) bool {
	q := j.In
	if !q.Shared || len(j.MinResources) == 0 {
		return false
	}
	lapsed := g.s.Lapsed(q)
	for _, t := range j.MinResources {
		i := int(t.Index)
		if i == model.Pods {
			continue
		}
		claimed := q.Own.Allocated[i] + q.Own.Inqueue[i] - q.Own.Elastic[i]
		if i < len(lapsed) {
			claimed -= lapsed[i]
		}
		if claimed+float64(t.Value) > q.Entitled[i]+queue.Epsilon {
			return false
		}
	}
	return true
}

// enqueued counts an admitted gang.
func (g *gate) enqueued(j *session.Job) {
	g.load()
	for _, t := range j.MinResources {
		g.promised[t.Index] += float64(t.Value)
	}
}
