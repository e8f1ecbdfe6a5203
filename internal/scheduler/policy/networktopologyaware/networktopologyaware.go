// Package networktopologyaware fills HyperNodes one after the other: gangs that
// want their pods near each other get the fullest HyperNode that still holds
// them, and pods that do not care go where HyperNodes are full already, so that
// others stay free for gangs that need them whole.
//
//	In:   HyperNodes, what their nodes have and what is used of it
//	Out:  rule HyperNodeOrder, points of nodes, how many domains evictions are tried in
//
// That a hard topology is kept does not depend on this policy: the engine never
// breaks it.
package networktopologyaware

import (
	"fmt"
	"math"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy is the policy network-topology-aware.
type Policy struct {
	conf    config.Plugin
	weight  float64
	weights map[string]float64 // of resources
	normal  bool
	fading  float64
	domains int
}

const (
	resourcePrefix = "hypernode.binpack.resources."
	fading         = "hypernode.binpack.normal-pod.fading"
	usualFading    = 0.8
	// steepest is the greatest fading that is believed: powers of more have no end.
	steepest = 10
)

// New returns the policy; warn receives arguments that cannot be read.
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
	for _, name := range resources(conf, warn) {
		p.weights[name] = weight(resourcePrefix + name)
	}
	p.normal = a.Bool("hypernode.binpack.normal-pod.enable", true, warn)
	if p.fading = a.Float(fading, usualFading, warn); !(p.fading >= 0 && p.fading <= steepest) {
		warn(fmt.Sprintf("argument %s: want 0 to %d, have %v; %v is used", fading, steepest, p.fading, usualFading))
		p.fading = usualFading
	}
	if p.domains = a.Int("hypernode.gradient.evict.max-hypernodes", 0, warn); p.domains < 0 {
		p.domains = 0
	}
	return p
}

// Name is network-topology-aware.
func (*Policy) Name() string { return "network-topology-aware" }

// Reads says which switches and arguments have an effect; weights of resources
// only where hypernode.binpack.resources names them.
func (p *Policy) Reads() config.Reads {
	var own []string
	for _, name := range resources(p.conf, nil) {
		own = append(own, resourcePrefix+name)
	}
	return manual.Reads(own...)
}

// resources are the names that hypernode.binpack.resources lists.
func resources(conf config.Plugin, warn func(string)) []string {
	var names []string
	for _, name := range strings.Split(conf.Arguments.String("hypernode.binpack.resources", "", warn), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Open registers the rules, where there are HyperNodes.
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
	f.weigh()
	if p.conf.Enabled("enabledHyperNodeOrder") {
		s.Rules.HyperNodeOrder = append(s.Rules.HyperNodeOrder, func(_ *session.Job, d *model.Domain, asked model.Request) float64 {
			return f.packing(d, asked) * 100 * p.weight
		})
	}
	if p.normal && p.conf.Enabled("enableNodeOrder") {
		s.Rules.Nodes = append(s.Rules.Nodes, session.NodeRule{
			Name:     p.Name(),
			Applies:  func(j *session.Job, _ *model.Task) bool { return !j.Structured() },
			ByDomain: func(t *model.Task) []float64 { return f.points(t.Shape.Request) },
			Placed:   func(_ *session.Job, t *model.Task, id model.NodeID, sign int) { f.placed(t, id, int64(sign)) },
			Evicted:  func(t *model.Task, sign int) { f.placed(t, t.Node, -int64(sign)) },
		})
	}
}

// row is what a domain has and what is used of it, by resource index.
type row struct{ alloc, used []float64 }

// filling follows how full the domains are.
type filling struct {
	s    *session.Session
	p    *Policy
	tree *model.Topology
	rows []row // by Domain.Index; empty: not known yet
	// tiers are the weights of tiers, total their sum; resources those of resources by index; around the points by Domain.Index.
	tiers             map[int]float64
	total             float64
	resources, around []float64
}

func (f *filling) row(d *model.Domain) row {
	r := f.rows[d.Index]
	if r.alloc != nil {
		return r
	}
	n := f.s.View.Nodes
	r = row{make([]float64, n.Stride), make([]float64, n.Stride)}
	for _, id := range d.All {
		base := int(id) * n.Stride
		for i := range n.Stride {
			r.alloc[i] += float64(n.Alloc[base+i])
			r.used[i] += float64(n.Alloc[base+i] - f.s.View.Future[base+i])
		}
	}
	f.rows[d.Index] = r
	return r
}

// placed follows what the cycle tries.
func (f *filling) placed(t *model.Task, id model.NodeID, sign int64) {
	for d := f.tree.Lowest(id); d != nil; d = d.Parent {
		if r := f.rows[d.Index]; r.alloc != nil {
			for _, term := range t.Shape.Request {
				r.used[term.Index] += float64(sign * term.Value)
			}
		}
	}
}

// packing is how full a domain would be with what is asked, 0 to 1: 0 when it
// does not hold it.
func (f *filling) packing(d *model.Domain, asked model.Request) float64 {
	r := f.row(d)
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

// points are how full the HyperNodes around a node are, the narrow ones counting
// most, by the node's lowest. A node that is in none of a tier counts as in a full
// one: whoever does not care takes it first.
func (f *filling) points(asked model.Request) []float64 {
	f.walk(f.tree.Root, asked, f.total)
	return f.around
}

// weigh gives every tier its weight: 1 for the lowest, fading with each step up.
// The sum counts tiers in between that no HyperNode has, without visiting them:
// whoever makes a HyperNode chooses the number of its tier.
func (f *filling) weigh() {
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

// geometricSum is 1 + q + q² + … with n summands.
func geometricSum(q, n float64) float64 {
	if q == 1 {
		return n
	}
	if q > 1 {
		n = min(n, 64) // beyond, numbers that grow have no end
	}
	return (1 - math.Pow(q, n)) / (1 - q)
}

// walk gives a domain and those below it their points; sum has what is above, and
// counts as full what is not.
func (f *filling) walk(d *model.Domain, asked model.Request, sum float64) {
	if d != f.tree.Root {
		sum -= f.tiers[d.Tier] * (1 - f.packing(d, asked))
	}
	if f.total > 0 {
		f.around[d.Index] = sum / f.total * 100 * f.p.weight
	}
	for _, child := range d.Children {
		f.walk(child, asked, sum)
	}
}
