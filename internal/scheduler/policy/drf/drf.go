// Package drf implements dominant resource fairness: it gives gangs and, with enableHierarchy, groups of queues equal
// dominant shares. A gang's dominant share is the largest fraction of any resource of the cluster that the gang uses.
//
//	In:   the resources that gangs use and request, the cluster's capacity; the queue annotations
//	      volcano.sh/hierarchy and volcano.sh/hierarchy-weights
//	Out:  rule JobOrder, an entitlement to preempt; with enableHierarchy QueueOrder, an entitlement to reclaim and
//	      warnings about queues
//
// Sources: Ghodsi et al., "Dominant Resource Fairness" (NSDI 2011); Bhattacharya et al., "Hierarchical Scheduling
// for Diverse Datacenter Workloads" (SoCC 2013).
//
// The number of pods is ignored, so it is never the dominant resource.
//
// # Concurrency
//
// Each engine has its own Policy. Between cycles, it caches only the warnings about queues.
package drf

import (
	"cmp"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// tiny is the maximum difference between two shares that count as equal.
const tiny = 1e-6

// Policy implements the drf policy.
type Policy struct {
	conf config.Plugin
	// warnings caches each queue's warnings, for generation gen of the queues' specs.
	warnings map[*queue.Queue][]string
	gen      uint64
}

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf: conf} }

// Name returns "drf".
func (*Policy) Name() string { return "drf" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	shares := &shares{total: s.Ledger.Total, held: map[*framework.Job]*holding{}}
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, func(a, b *framework.Job) int {
			return cmp.Compare(shares.dominantShareOf(a), shares.dominantShareOf(b))
		})
	}
	if p.conf.Enabled("enablePreemptable") {
		s.Rules.Entitle(func(a *framework.Attack) framework.Guard { return shares.grantEviction(s, a) }, framework.Preempt)
	}
	if !p.conf.Enabled("enableHierarchy") {
		return
	}
	p.addWarnings(s)
	tree := &tree{s: s, shares: shares}
	s.Rules.ShareMoves = true
	if p.conf.Enabled("enableQueueOrder") {
		s.Rules.QueueOrder = append(s.Rules.QueueOrder, func(a, b *queue.Queue) int {
			tree.update()
			return tree.compareQueues(a, b)
		})
	}
	if p.conf.Enabled("enableReclaimable") {
		s.Rules.Entitle(tree.grantEviction, framework.Reclaim)
	}
}

// addWarnings adds warnings to queues whose weights are ignored. It does so in every cycle, even if no rule needs the
// tree, because a warning that is not repeated disappears from the queue's status.
func (p *Policy) addWarnings(s *session.Session) {
	if p.warnings == nil || p.gen != s.Cluster.QueueSetGen {
		p.warnings, p.gen = weightContradictions(s.Ledger.Queues), s.Cluster.QueueSetGen
	}
	if len(p.warnings) == 0 {
		return
	}
	for _, q := range s.Ledger.Queues {
		q.Warnings = append(q.Warnings, p.warnings[q]...)
	}
}

// shares holds the dominant shares of gangs in one cycle.
type shares struct {
	total []float64
	held  map[*framework.Job]*holding
}

// holding holds the allocation of a gang. It includes a known number of this cycle's placements.
type holding struct {
	gen              uint64
	placed, promised int
	amounts          []float64
	share            float64
}

// dominantShareOf returns a gang's dominant share. It is between 0 and 1, or larger if nodes were removed.
func (s *shares) dominantShareOf(j *framework.Job) float64 { return s.holdingOfGang(j).share }

// isPartOf reports whether the gang still holds everything that the holding counts.
func (h *holding) isPartOf(j *framework.Job) bool {
	return h.gen == j.Gen && h.placed <= len(j.Placed) && h.promised <= len(j.Promised)
}

func (s *shares) holdingOfGang(j *framework.Job) *holding {
	h := s.held[j]
	if h == nil || !h.isPartOf(j) {
		h = &holding{gen: j.Gen, amounts: make([]float64, len(s.total))}
		for i, v := range j.Gang.Sums.Allocated {
			h.amounts[i] = float64(v)
		}
		h.share = s.computeDominantShare(h.amounts)
		s.held[j] = h
	}
	if h.placed == len(j.Placed) && h.promised == len(j.Promised) {
		return h
	}
	for ; h.placed < len(j.Placed); h.placed++ {
		h.countPlaced(j.Placed[h.placed].Task)
	}
	for ; h.promised < len(j.Promised); h.promised++ {
		h.countPlaced(j.Promised[h.promised].Task)
	}
	h.share = s.computeDominantShare(h.amounts)
	return h
}

// countPlaced counts a task that was placed in this cycle. Tasks with promised resources are already included.
func (h *holding) countPlaced(t *model.Task) {
	if t.Status != model.Pending {
		return
	}
	for _, term := range t.Shape.Request {
		h.amounts[term.Index] += float64(term.Value)
	}
}

// computeDominantShare returns the largest fraction of any of the cluster's resources that the amounts make up.
func (s *shares) computeDominantShare(amounts []float64) float64 {
	share := 0.0
	for i, v := range amounts {
		switch {
		case i == resource.Pods || v <= 0:
		case s.total[i] > 0:
			share = max(share, v/s.total[i])
		default:
			share = max(share, 1)
		}
	}
	return share
}

// currentAmounts returns the resources that a gang uses, without the tasks that are evicted in this cycle.
func (s *shares) currentAmounts(j *framework.Job) []float64 {
	amounts := append([]float64(nil), s.holdingOfGang(j).amounts...)
	for t := range j.Leaving {
		addRequest(amounts, t, -1)
	}
	return amounts
}

func addRequest(amounts []float64, t *model.Task, sign float64) {
	for _, term := range t.Shape.Request {
		amounts[term.Index] += sign * float64(term.Value)
	}
}

// grantEviction grants the eviction of tasks whose gang keeps at least the share that the taker would then have. It
// takes into account the resources that the victims' gangs have already lost.
func (s *shares) grantEviction(ses *session.Session, a *framework.Attack) framework.Guard {
	with := s.currentAmounts(a.Taker)
	for _, t := range a.Asked {
		with[t.Index] += float64(t.Value)
	}
	mine := s.computeDominantShare(with)
	left, before := map[*framework.Job][]float64{}, map[*framework.Job]float64{}
	scratch := make([]float64, len(s.total))
	look := func(g *model.Gang) *framework.Job {
		j := ses.Job(g)
		if j != nil && left[j] == nil {
			left[j] = s.currentAmounts(j)
			before[j] = s.computeDominantShare(left[j])
		}
		return j
	}
	return framework.Guard{
		Code: reason.NoLowerShare, Moves: true,
		May: func(victims []*model.Task) (bool, string) {
			j := look(victims[0].Gang)
			if j == nil {
				return true, ""
			}
			if mine > before[j]-tiny { // the victim's gang would be entitled to take the resources back
				return false, ""
			}
			copy(scratch, left[j])
			for _, t := range victims {
				addRequest(scratch, t, -1)
			}
			return mine <= s.computeDominantShare(scratch)+tiny, ""
		},
		Because: func([]*model.Task) string { return "the dominant share of the waiting gang is lower" },
		Out: func(victims []*model.Task, sign int) {
			if j := ses.Job(victims[0].Gang); j != nil && left[j] != nil {
				for _, t := range victims {
					addRequest(left[j], t, -float64(sign))
				}
			}
		},
	}
}
