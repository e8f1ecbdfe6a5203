// Package overcommit limits the total request of admitted gangs to a multiple of the cluster's capacity. Admitting more
// gangs would only create pods that have to wait.
//
//	In:   the capacity and usage of nodes, the outstanding requests of admitted gangs
//	Out:  rules Enqueueable and Enqueued
//
// # Invariants
//
//   - A gang is admitted, however full the cluster is, if its queue would then request no more than it is entitled to.
//     This is because other queues must return what they use beyond their shares, but resources can be reclaimed only
//     for admitted gangs.
//   - A gang that requests no more than the limit is admitted if no other gang uses or reserves any of the resources
//     whose limit would be exceeded. If it were rejected, it might wait forever, because resources of pods outside of
//     queues may never become free. Once it is admitted, smaller pods of the gang may be able to start.
//   - Resources that a gang already uses are not counted twice.
package overcommit

import (
	"math"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	factorArgument = "overcommit-factor"
	usualFactor    = 1.2
)

// Policy implements the overcommit policy.
type Policy struct {
	conf   config.Plugin
	factor float64
}

// New returns the policy. It replaces a factor below 1 with the default.
func New(conf config.Plugin, warn func(string)) *Policy {
	factor := conf.Arguments.Float(factorArgument, usualFactor, warn)
	if !(factor >= 1) || factor > 1e6 {
		warn("argument overcommit-factor: must be from 1 to 1000000; 1.2 is used")
		factor = usualFactor
	}
	return &Policy{conf: conf, factor: factor}
}

// Name returns "overcommit".
func (*Policy) Name() string { return "overcommit" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules. The sums are computed when they are first needed.
func (p *Policy) Open(s *session.Session) {
	if !p.conf.Enabled("enableJobEnqueued") {
		return
	}
	g := &gate{s: s, factor: p.factor}
	s.Rules.Vote(g.voteOnAdmission)
	s.Rules.Enqueued = append(s.Rules.Enqueued, g.countAdmitted)
}

// gate holds the totals of one cycle.
type gate struct {
	s      *session.Session
	factor float64
	loaded bool
	// limit is the cluster's capacity times the factor. used is the amount used by pods on nodes or promised to pods
	// there; inQueues is the part of it that belongs to pods in queues. promised is the amount that is admitted but not
	// placed yet.
	limit, used, inQueues, promised []float64
}

func (g *gate) loadTotals() {
	if g.loaded {
		return
	}
	g.loaded = true
	n := len(g.s.Ledger.Total)
	g.limit, g.used, g.inQueues, g.promised = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range g.s.Ledger.Total {
		g.limit[i] = math.Floor(v*g.factor + queue.Epsilon) // round down, because a request is a whole number of units
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
		if lapsed := g.s.Lapsed(q); q.Parent == nil && lapsed != nil { // lapsed gangs cannot start
			for i, v := range lapsed {
				g.promised[i] -= v
			}
		}
	}
}

// voteOnAdmission permits the admission of a gang if its minimum fits within the limits or if its queue stays within
// its share. Otherwise, it rejects the gang. It abstains if the cluster grows with the queue's pending gangs.
func (g *gate) voteOnAdmission(j *framework.Job) (framework.Vote, explain.Verdict) {
	if j.In.Grows() { // the cluster grows with the queue's pending gangs
		return framework.Abstain, explain.Verdict{}
	}
	g.loadTotals()
	over := g.exceededLimits(j)
	if len(over) == 0 || g.staysWithinShare(j) {
		return framework.Permit, explain.Verdict{}
	}
	return framework.Reject, explain.Verdict{Code: reason.Overcommitted, Limit: &over[0], More: over[1:]}
}

// exceededLimits returns the limits, by resource name, that the gang would exceed. If it would exceed some of them even
// on an unused cluster, exceededLimits returns only these.
func (g *gate) exceededLimits(j *framework.Job) []explain.Limit {
	var exceeded, impossible []explain.Limit
	yields := g.s.PreemptibleAmounts(j)
	for _, t := range j.MinResources {
		i := int(t.Index)
		if !g.exceedsLimit(i, float64(t.Value), float64(yields.Get(i))) {
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

// exceedsLimit reports whether the limit of a resource would be exceeded. yields is the amount that the gang could take
// from other gangs of its queue; it does not count as used, because the gang can take it only after admission.
func (g *gate) exceedsLimit(i int, asked, yields float64) bool {
	promised := max(g.promised[i], 0)
	if asked+promised+g.used[i]-yields <= g.limit[i]+queue.Epsilon {
		return false
	}
	idle := promised+g.inQueues[i]-yields <= queue.Epsilon
	return !idle || asked > g.limit[i]+queue.Epsilon
}

// staysWithinShare reports whether the queue would stay within its entitlement if the gang were admitted.
func (g *gate) staysWithinShare(j *framework.Job) bool {
	q := j.In
	if !q.Shared || len(j.MinResources) == 0 {
		return false
	}
	lapsed := g.s.Lapsed(q)
	for _, t := range j.MinResources {
		i := int(t.Index)
		if i == resource.Pods {
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

// countAdmitted adds an admitted gang to the totals.
func (g *gate) countAdmitted(j *framework.Job) {
	g.loadTotals()
	for _, t := range j.MinResources {
		g.promised[t.Index] += float64(t.Value)
	}
}
