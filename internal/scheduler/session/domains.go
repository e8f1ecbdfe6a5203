package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Purpose selects the domains that CandidateDomains returns, and their order.
type Purpose int

// The purposes are to place a gang, which prefers narrow domains, and to evict pods for it, which prefers wide
// domains, up to a maximum number of domains.
const (
	ToAllocate Purpose = iota
	ToEvict
)

// CandidateDomains returns the domains in which a gang may be placed, best first. A nil domain is the whole cluster.
// The verdict holds the reason if there is no domain.
func (s *Session) CandidateDomains(j *framework.Job, purpose Purpose) ([]*model.Domain, explain.Verdict) {
	tiers, v := s.PermittedTiers(j.Topology, s.NodesOf(j, nil), nil)
	if v.Code != "" {
		return nil, v
	}
	var out []*model.Domain
	if purpose == ToEvict {
		slices.Reverse(tiers)
	}
	for _, tier := range tiers {
		s.SortByScore(tier, j, j.MinimumRequest())
		out = append(out, tier...)
	}
	if purpose == ToEvict {
		if j.Topology == nil || !j.Topology.Hard {
			return []*model.Domain{nil}, v
		}
		if most := s.Rules.MaxDomains; most > 0 {
			out = out[:min(len(out), most)]
		}
	}
	return out, v
}

// NodesOf returns the nodes that tasks of a job hold, including the placements of this cycle. If a group is given,
// only the group's tasks count.
func (s *Session) NodesOf(j *framework.Job, g *framework.Group) []model.NodeID {
	var nodes []model.NodeID
	tasks := j.Tasks
	if g != nil {
		tasks = g.Tasks
	}
	for _, t := range tasks {
		if t.Status.IsAllocated() && t.Node != model.NoNode {
			nodes = append(nodes, t.Node)
		}
	}
	for _, p := range j.Placed {
		if g == nil || j.GroupOf(p.Task) == g {
			nodes = append(nodes, p.Node)
		}
	}
	return nodes
}

// lowestCommonDomain returns the lowest domain that contains all nodes; nil if there are no nodes.
func (s *Session) lowestCommonDomain(nodes []model.NodeID) *model.Domain {
	var d *model.Domain
	for _, id := range nodes {
		d = s.Tree.Topology.CommonDomain(d, s.Tree.Topology.LowestDomain(id))
	}
	return d
}

// CommonHyperNode returns the name of the lowest HyperNode that contains all pods of a job; "" if no HyperNode does.
func (s *Session) CommonHyperNode(j *framework.Job) string {
	if s.Tree == nil || s.Tree.Topology == nil {
		return ""
	}
	if d := s.lowestCommonDomain(s.NodesOf(j, nil)); d != nil {
		return d.Name
	}
	return ""
}

// PermittedTiers returns the domains, by tier from the lowest, that a topology permits for additional pods, given the
// nodes that pods already hold. The domains are inside from; nil means the whole cluster. Without a topology,
// PermittedTiers returns only from.
func (s *Session) PermittedTiers(spec *model.TopologySpec, held []model.NodeID, from *model.Domain) ([][]*model.Domain, explain.Verdict) {
	if spec == nil {
		return [][]*model.Domain{{from}}, explain.Verdict{}
	}
	if s.Tree == nil || s.Tree.Topology == nil {
		if spec.Hard && (spec.Tier != nil || spec.TierName != "") {
			return nil, explain.Verdict{Code: reason.NoHyperNode, Topology: "the cluster has no HyperNodes"}
		}
		return [][]*model.Domain{{from}}, explain.Verdict{}
	}
	if from == nil {
		from = s.Tree.Topology.Root
	}
	limit, v := s.HighestTier(spec, from)
	if v.Code != "" {
		return nil, v
	}
	around := s.lowestCommonDomain(held) // new pods stay with the others
	var domains []*model.Domain
	for _, d := range s.candidateDomains(around) {
		if d.Tier <= limit && d.IsInOrBelow(from) {
			domains = append(domains, d)
		}
	}
	switch {
	case len(domains) == 0 && around != nil:
		return nil, explain.Verdict{Code: reason.NoHyperNode, Topology: fmt.Sprintf("other pods of the gang already run in %s, which has tier %d", describeDomain(around), around.Tier)}
	case len(domains) == 0:
		return nil, s.whyNoDomain(limit)
	}
	if s.Rules.WideOnly {
		domains = widestDomains(domains)
	}
	return groupByTier(domains), explain.Verdict{}
}

// candidateDomains returns the domain around some pods and the domains that contain it, from the lowest. If around is
// nil, these are all domains that have nodes and can hold gangs.
func (s *Session) candidateDomains(around *model.Domain) []*model.Domain {
	var domains []*model.Domain
	for d := around; d != nil; d = d.Parent {
		domains = append(domains, d)
	}
	if around != nil {
		return domains
	}
	for _, d := range s.Tree.Topology.Domains {
		if d.CanHoldGangs() && len(d.All) > 0 {
			domains = append(domains, d)
		}
	}
	return domains
}

// widestDomains returns the domains whose parent is not among the given domains.
func widestDomains(domains []*model.Domain) []*model.Domain {
	isGiven := make(map[*model.Domain]bool, len(domains))
	for _, d := range domains {
		isGiven[d] = true
	}
	var widest []*model.Domain
	for _, d := range domains {
		if !isGiven[d.Parent] {
			widest = append(widest, d)
		}
	}
	return widest
}

func describeDomain(d *model.Domain) string {
	if d.Name == "" {
		return "the whole cluster"
	}
	return "hyperNode " + d.Name
}

// HighestTier returns the highest tier that a topology permits.
func (s *Session) HighestTier(spec *model.TopologySpec, from *model.Domain) (int, explain.Verdict) {
	switch {
	case !spec.Hard:
		return from.Tier, explain.Verdict{}
	case spec.Tier != nil:
		return *spec.Tier, explain.Verdict{}
	case spec.TierName == "":
		return from.Tier, explain.Verdict{}
	}
	tier, ok := s.Tree.Topology.Tiers[spec.TierName]
	if !ok {
		return 0, explain.Verdict{Code: reason.NoHyperNode, Topology: fmt.Sprintf("no HyperNode has the tier name %s", spec.TierName)}
	}
	return tier, explain.Verdict{}
}

func (s *Session) whyNoDomain(limit int) explain.Verdict {
	for _, d := range s.Tree.Topology.Domains {
		if !d.CanHoldGangs() && d.Tier <= limit {
			return explain.Verdict{Code: reason.HyperNodeInvalid, Topology: d.Problem, HyperNode: d.Name}
		}
	}
	if lowest, ok := s.Tree.Topology.LowestTier(); ok {
		return explain.Verdict{Code: reason.NoHyperNode, Topology: fmt.Sprintf("no HyperNode with nodes has tier %d or lower; the lowest tier is %d", limit, lowest)}
	}
	return explain.Verdict{Code: reason.NoHyperNode, Topology: "no HyperNode is usable"}
}

func groupByTier(domains []*model.Domain) [][]*model.Domain {
	slices.SortStableFunc(domains, func(a, b *model.Domain) int { return cmp.Compare(a.Tier, b.Tier) })
	var tiers [][]*model.Domain
	for i, d := range domains {
		if i == 0 || domains[i-1].Tier != d.Tier {
			tiers = append(tiers, nil)
		}
		tiers[len(tiers)-1] = append(tiers[len(tiers)-1], d)
	}
	return tiers
}

// SortByScore sorts the domains of a tier by the points of policies. Among domains with equal points, the gang's
// previous domain comes first, followed by the others sorted by name.
func (s *Session) SortByScore(tier []*model.Domain, j *framework.Job, asked resource.Request) {
	if len(tier) < 2 {
		return
	}
	points := make(map[*model.Domain]float64, len(tier))
	for _, d := range tier {
		for _, f := range s.Rules.HyperNodeOrder {
			points[d] += f(j, d, asked)
		}
	}
	before := j.Annotations[keys.AllocatedHyperNode]
	slices.SortFunc(tier, func(a, b *model.Domain) int {
		return cmp.Or(cmp.Compare(points[b], points[a]), framework.CompareBool(a.Name != before, b.Name != before), strings.Compare(a.Name, b.Name))
	})
}
