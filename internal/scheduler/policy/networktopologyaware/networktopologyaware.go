// Package networktopologyaware fills HyperNodes one after the other. A gang with a network topology gets the fullest
// HyperNode that still has enough free capacity for it. Other pods are placed in HyperNodes that are already full, so
// that the remaining HyperNodes stay free for gangs that need a whole one.
//
//	In:   HyperNodes, the capacity and usage of their nodes
//	Out:  rule HyperNodeOrder, node scores, the number of domains in which evictions are tried
//
// Hard topologies do not depend on this policy, because the engine always enforces them.
package networktopologyaware

import (
	"fmt"
	"math"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the network-topology-aware policy.
type Policy struct {
	conf    config.Plugin
	weight  float64
	weights map[string]float64 // by resource name
	normal  bool
	fading  float64
	domains int
}

const (
	resourcePrefix = "hypernode.binpack.resources."
	fading         = "hypernode.binpack.normal-pod.fading"
	usualFading    = 0.8
	// steepest is the largest accepted fading; powers of larger values would overflow.
	steepest = 10
)

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	a := conf.Arguments
	weight := func(key string) float64 {
		if v := a.Int(key, 1, warn); v >= 0 {
			return float64(v)
		}
		return 1
	}
	p := &Policy{conf: conf, weight: weight("weight")}
	p.weights = map[string]float64{"cpu": weight("hypernode.binpack.cpu"), "memory": weight("hypernode.binpack.memory")}
	for _, name := range parseResources(conf, warn) {
		p.weights[name] = weight(resourcePrefix + name)
	}
	p.normal = a.Bool("hypernode.binpack.normal-pod.enable", true, warn)
	if p.fading = a.Float(fading, usualFading, warn); !(p.fading >= 0 && p.fading <= steepest) {
		warn(fmt.Sprintf("argument %s: must be from 0 to %d, not %v; %v is used", fading, steepest, p.fading, usualFading))
		p.fading = usualFading
	}
	if p.domains = a.Int("hypernode.gradient.evict.max-hypernodes", 0, warn); p.domains < 0 {
		p.domains = 0
	}
	return p
}

// Name returns "network-topology-aware".
func (*Policy) Name() string { return "network-topology-aware" }

// Reads returns the switches and arguments that have an effect. The weight of a resource has an effect only if
// hypernode.binpack.resources lists the resource.
func (p *Policy) Reads() config.Reads {
	var own []string
	for _, name := range parseResources(p.conf, nil) {
		own = append(own, resourcePrefix+name)
	}
	return manual.Reads(own...)
}

// parseResources returns the resource names in hypernode.binpack.resources.
func parseResources(conf config.Plugin, warn func(string)) []string {
	var names []string
	for _, name := range strings.Split(conf.Arguments.String("hypernode.binpack.resources", "", warn), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Open registers the rules if there are HyperNodes.
func (p *Policy) Open(s *session.Session) {
	if s.Tree.Topology == nil {
		return
	}
	s.Rules.MaxDomains = p.domains
	s.Rules.WideOnly = !p.conf.Enabled("enabledHyperNodeGradient")
	if p.weight == 0 {
		return
	}
	f := &filling{s: s, p: p, tree: s.Tree.Topology, rows: make([]row, len(s.Tree.Topology.Domains))}
	f.computeTierWeights()
	if p.conf.Enabled("enabledHyperNodeOrder") {
		s.Rules.HyperNodeOrder = append(s.Rules.HyperNodeOrder, func(_ *framework.Job, d *model.Domain, asked resource.Request) float64 {
			return f.packingAfterRequest(d, asked) * 100 * p.weight
		})
	}
	if p.normal && p.conf.Enabled("enableNodeOrder") {
		s.Rules.Nodes = append(s.Rules.Nodes, framework.NodeRule{
			Name:     p.Name(),
			Applies:  func(j *framework.Job, _ *model.Task) bool { return !j.IsStructured() },
			ByDomain: func(t *model.Task) []float64 { return f.scoreDomains(t.Shape.Request) },
			Placed:   func(_ *framework.Job, t *model.Task, id model.NodeID, sign int) { f.updatePlaced(t, id, int64(sign)) },
			Evicted:  func(t *model.Task, sign int) { f.updatePlaced(t, t.Node, -int64(sign)) },
		})
	}
}

// row holds the capacity and the used amounts of a domain, by resource index.
type row struct{ alloc, used []float64 }

// filling tracks how full each domain is.
type filling struct {
	s    *session.Session
	p    *Policy
	tree *model.Topology
	rows []row // by Domain.Index; a row is empty if it has not been computed yet
	// tiers holds the weight of each tier, and total their sum. resources holds the weights by resource index. around
	// holds the points by Domain.Index.
	tiers             map[int]float64
	total             float64
	resources, around []float64
}

// domainAmounts returns the capacity and the used amounts of a domain. It computes them at the first call.
func (f *filling) domainAmounts(d *model.Domain) *row {
	r := &f.rows[d.Index]
	if r.alloc == nil {
		f.computeAmounts(r, d)
	}
	return r
}

func (f *filling) computeAmounts(r *row, d *model.Domain) {
	n := f.s.View.Nodes
	r.alloc, r.used = make([]float64, n.Stride), make([]float64, n.Stride)
	for _, id := range d.All {
		base := int(id) * n.Stride
		for i := range n.Stride {
			r.alloc[i] += float64(n.Alloc[base+i])
			r.used[i] += float64(n.Alloc[base+i] - f.s.View.Future[base+i])
		}
	}
}

// updatePlaced updates the used amounts after a task was placed or its placement was undone.
func (f *filling) updatePlaced(t *model.Task, id model.NodeID, sign int64) {
	for d := f.tree.LowestDomain(id); d != nil; d = d.Parent {
		if r := f.rows[d.Index]; r.alloc != nil {
			for _, term := range t.Shape.Request {
				r.used[term.Index] += float64(sign * term.Value)
			}
		}
	}
}

// packingAfterRequest returns how full a domain would be with the request, from 0 to 1. It returns 0 if the request
// does not fit.
func (f *filling) packingAfterRequest(d *model.Domain, asked resource.Request) float64 {
	r := f.domainAmounts(d)
	sum, weights := 0.0, 0.0
	for _, t := range asked {
		weight := f.resources[t.Index]
		if weight == 0 || r.alloc[t.Index] <= 0 {
			continue
		}
		used := r.used[t.Index] + float64(t.Value)
		if used > r.alloc[t.Index] {
			return 0
		}
		sum += weight * used / r.alloc[t.Index]
		weights += weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// scoreDomains returns points by domain index. A node gets the points of the lowest HyperNode that contains it. The
// points measure how full the HyperNodes around the node are, with the highest weight for the lowest tier. A node that
// is in no HyperNode of a tier counts as being in a full one, so that pods without a topology use it first.
func (f *filling) scoreDomains(asked resource.Request) []float64 {
	f.scoreSubtree(f.tree.Root, asked, f.total)
	return f.around
}

// computeTierWeights computes the weight of every resource and every tier. The lowest tier has weight 1, which is
// multiplied by the fading for each step up. The sum includes intermediate tiers that no HyperNode has. They are not
// visited one by one, because users may choose any tier numbers.
func (f *filling) computeTierWeights() {
	f.around = make([]float64, len(f.tree.Domains))
	f.tiers = map[int]float64{}
	if lowest, ok := f.tree.LowestTier(); ok {
		for _, d := range f.tree.Domains {
			if d != f.tree.Root {
				f.tiers[d.Tier] = math.Pow(f.p.fading, min(float64(d.Tier-lowest), 64))
			}
		}
		f.total = geometricSum(f.p.fading, float64(f.tree.Root.Tier-lowest))
	}
	f.resources = make([]float64, f.s.View.Nodes.Stride)
	for i := range f.s.Cluster.Resources.Len() {
		f.resources[i] = f.p.weights[f.s.Cluster.Resources.Name(i)]
	}
}

// geometricSum returns the sum of the first n terms of 1 + q + q² + …
func geometricSum(q, n float64) float64 {
	if q == 1 {
		return n
	}
	if q > 1 {
		n = min(n, 64) // larger powers overflow
	}
	return (1 - math.Pow(q, n)) / (1 - q)
}

// scoreSubtree computes the points of a domain and of the domains below it. sum is the weighted sum so far: it includes
// the domains above, and counts all others as full.
func (f *filling) scoreSubtree(d *model.Domain, asked resource.Request, sum float64) {
	if d != f.tree.Root {
		sum -= f.tiers[d.Tier] * (1 - f.packingAfterRequest(d, asked))
	}
	if f.total > 0 {
		f.around[d.Index] = sum / f.total * 100 * f.p.weight
	}
	for _, child := range d.Children {
		f.scoreSubtree(child, asked, sum)
	}
}
