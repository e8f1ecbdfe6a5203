// Package score computes which of the suitable nodes is best for a shape.
//
//	In:   a node's row in the overlay, the shape's request, the weights that policies set
//	Out:  an int32, higher is better, in thousandths of a point
//
// As in kube-scheduler and Volcano, each term contributes 0 to 100 points, multiplied by its weight. Two terms are
// normalised over the nodes that pass the static filters, and not only over the nodes with enough free resources, so
// that a node's score does not depend on the free resources of other nodes.
package score

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// Weights holds the weights of the terms. A weight of 0 disables the term.
type Weights struct {
	LeastRequested float64
	MostRequested  float64
	Balanced       float64
	NodeAffinity   float64
	Taints         float64
	ImageLocality  float64
	PodAffinity    float64
	Spread         float64
	Binpack        Binpack
	Strategy       Strategy
	// Bonuses holds the points that policies assign to nodes.
	Bonuses []*Bonus
	// Left holds the resources that another component accounts for. They are excluded from scores.
	Left map[string]bool
}

// Binpack prefers nodes that are nearly full.
type Binpack struct {
	Weight float64
	// Resources holds the weight of each resource by name.
	Resources map[string]float64
}

// Bonus holds a policy's points for nodes. When the points of a node change, the policy must call Overlay.MarkChanged
// for the node.
type Bonus struct {
	Points []float64               // by model.NodeID; nodes beyond the end get no points
	For    func(*model.Shape) bool // constant test for the shapes that the bonus applies to; nil for all shapes
}

// Unit is the score that corresponds to one point.
const Unit = 1000

// limit bounds a score so that the sum of all terms fits in an int32.
const limit = math.MaxInt32 / 4

// Request is the part of a shape that the dynamic terms need, together with the weights for its resources.
type Request struct {
	cpu, memory float64 // the request, with kube-scheduler's defaults for missing values
	pack        []packed
	packTotal   float64
	plain       bool     // balance consists of cpu and memory, and the pod requests both
	balance     []packed // resources to balance; nil if the pod requests none of them
	strategy    strategy
	bonuses     []*Bonus
}

type packed struct {
	index  int
	value  float64
	weight float64
}

// kube-scheduler's default requests, used to score pods without requests.
const (
	defaultMilliCPU    = 100
	defaultMemoryBytes = 200 << 20
)

// PrepareRequest looks up the resources and weights for a shape.
func (w *Weights) PrepareRequest(resources *resource.Names, s *model.Shape) Request {
	r := Request{cpu: float64(s.Request.Get(resource.CPU)), memory: float64(s.Request.Get(resource.Memory))}
	if r.cpu == 0 {
		r.cpu = defaultMilliCPU
	}
	if r.memory == 0 {
		r.memory = defaultMemoryBytes
	}
	for _, b := range w.Bonuses {
		if b.For == nil || b.For(s) {
			r.bonuses = append(r.bonuses, b)
		}
	}
	r.strategy = w.Strategy.prepareFor(resources, s, w.Left)
	r.balance = w.prepareBalance(resources, s)
	r.plain = len(r.balance) == 2 && s.Request.Get(resource.CPU) > 0 && s.Request.Get(resource.Memory) > 0
	if w.Binpack.Weight == 0 {
		return r
	}
	for _, t := range s.Request {
		if w.Left[resources.Name(int(t.Index))] {
			continue
		}
		if weight := w.Binpack.Resources[resources.Name(int(t.Index))]; weight > 0 {
			r.pack = append(r.pack, packed{int(t.Index), float64(t.Value), weight})
			r.packTotal += weight
		}
	}
	return r
}

// DynamicScore returns the score of the terms that depend on the node's free resources.
func (w *Weights) DynamicScore(o *overlay.Overlay, id model.NodeID, r *Request) int32 {
	base := int(id) * o.Nodes.Stride
	cpu := computeUsage(o.Nodes.Alloc[base+resource.CPU], o.Idle[base+resource.CPU])
	memory := computeUsage(o.Nodes.Alloc[base+resource.Memory], o.Idle[base+resource.Memory])
	withCPU, withMemory := cpu.fractionWith(r.cpu), memory.fractionWith(r.memory)
	points := 0.0
	if w.LeastRequested != 0 {
		points += w.LeastRequested * ((1-withCPU)*50 + (1-withMemory)*50)
	}
	if w.MostRequested != 0 {
		points += w.MostRequested * (withCPU*50 + withMemory*50)
	}
	switch {
	case w.Balanced == 0 || len(r.balance) == 0:
	case r.plain && cpu.each > 0 && memory.each > 0:
		before := math.Abs(cpu.fractionWith(0)-memory.fractionWith(0)) / 2
		points += w.Balanced * (75 + 50*(before-math.Abs(withCPU-withMemory)/2))
	default:
		points += w.Balanced * r.balanceScore(o, base)
	}
	if r.packTotal > 0 {
		points += w.Binpack.Weight * r.binpackScore(o, base)
	}
	if r.strategy.any {
		points += r.strategy.scoreNode(o, base)
	}
	for _, b := range r.bonuses {
		if int(id) < len(b.Points) {
			points += b.Points[id]
		}
	}
	return toScoreUnits(points)
}

func toScoreUnits(points float64) int32 { return int32(min(max(points*Unit, 0), limit)) }

// usage holds the used amount of a resource, and the fraction of the total that one unit represents.
type usage struct{ used, each float64 }

func computeUsage(alloc, idle int64) usage {
	if alloc <= 0 {
		return usage{used: 1}
	}
	return usage{float64(alloc - idle), 1 / float64(alloc)}
}

// fractionWith returns the used fraction, from 0 to 1, after a pod is placed. It is 1 if the node lacks the resource.
func (u usage) fractionWith(asked float64) float64 {
	if u.each == 0 {
		return 1
	}
	return min((u.used+asked)*u.each, 1)
}

func (r *Request) binpackScore(o *overlay.Overlay, base int) float64 {
	sum := 0.0
	for _, p := range r.pack {
		alloc, idle := float64(o.Nodes.Alloc[base+p.index]), float64(o.Idle[base+p.index])
		if alloc == 0 {
			continue
		}
		used := alloc - idle + p.value
		if used > alloc {
			return 0
		}
		sum += p.weight * used / alloc
	}
	return sum / r.packTotal * 100
}

// NormaliseScore scales a raw value from the range 0 to most to the range 0 to 100 points, and multiplies it by
// weight. If reversed is true, lower raw values score higher.
func NormaliseScore(raw, most int64, weight float64, reversed bool) int32 {
	points := 0.0
	if most > 0 {
		points = float64(raw) / float64(most) * 100
	}
	if reversed {
		points = 100 - points
	}
	return toScoreUnits(points * weight)
}

const (
	minImage = 23 << 20
	maxImage = 1000 << 20
)

// ScoreImages scores the shape's images that are present on the node. The score of an image increases with its size and
// with the fraction of nodes that have it, so that an image on few nodes does not attract all its pods to these
// nodes. holders contains the number of nodes that have each image.
func (w *Weights) ScoreImages(s *model.Shape, info *model.NodeInfo, holders map[string]int32, nodes int) int32 {
	if w.ImageLocality == 0 || len(info.Images) == 0 {
		return 0
	}
	var sum int64
	for _, name := range s.Images {
		if size, has := info.Images[name]; has {
			sum += int64(float64(size) * (float64(holders[name]) / float64(nodes)))
		}
	}
	most := int64(maxImage) * int64(max(s.ImageCount, 1))
	sum = min(max(sum, minImage), most)
	return toScoreUnits(w.ImageLocality * float64(sum-minImage) / float64(most-minImage) * 100)
}
