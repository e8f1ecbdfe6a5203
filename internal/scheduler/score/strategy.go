package score

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// Strategy scores each resource by its own strategy, so that some resources are spread over nodes and others are
// packed. A Weight of 0 disables it.
type Strategy struct {
	Weight float64
	// Resources maps resource names, or prefixes that end in *, to terms. The longest matching prefix applies.
	Resources map[string]Term
	Scarce    Scarce
}

// Term describes how one resource is scored.
type Term struct {
	Most   bool // prefer nodes where much of the resource is used, instead of little
	Weight float64
}

// Scarce keeps pods away from nodes with scarce resources that the pods do not request. A Weight of 0 disables it.
type Scarce struct {
	Weight float64
	// Resources holds the weight of each scarce resource by name.
	Resources map[string]float64
}

// Names of the strategies, as in Volcano.
const (
	LeastAllocated = "LeastAllocated"
	MostAllocated  = "MostAllocated"
)

// strategy is a Strategy whose names and weights have been looked up for a shape.
type strategy struct {
	any          bool
	terms        []strategyTerm
	total        float64 // sum of the terms' weights
	weight       float64
	scarce       []strategyTerm
	scarceTotal  float64
	scarceWeight float64
	asked        []int32 // requested resources, for the scarce term
}

type strategyTerm struct {
	index  int
	value  float64
	weight float64
	most   bool
}

// ParseOverride parses the strategy that a pod sets in its annotations. ok is false if the pod sets none. The error
// describes an invalid annotation.
func ParseOverride(notes map[string]string) (own map[string]Term, ok bool, err error) {
	kind, given := notes[keys.StrategyType]
	if !given {
		return nil, false, nil
	}
	if kind != LeastAllocated && kind != MostAllocated {
		return nil, true, fmt.Errorf("%s: must be %s or %s, not %q", keys.StrategyType, LeastAllocated, MostAllocated, kind)
	}
	var weights map[string]int
	if err := json.Unmarshal([]byte(notes[keys.StrategyWeight]), &weights); err != nil {
		return nil, true, fmt.Errorf("%s: must be a JSON object that maps resource names to whole numbers, not %q", keys.StrategyWeight, notes[keys.StrategyWeight])
	}
	own = map[string]Term{}
	for name, weight := range weights {
		own[name] = Term{Most: kind == MostAllocated, Weight: float64(max(weight, 1))}
	}
	return own, true, nil
}

// findTerm returns the term for a resource, which is the term with its name or, if none exists, the term with the
// longest matching prefix.
func (s *Strategy) findTerm(resources map[string]Term, name string) (Term, bool) {
	if t, ok := resources[name]; ok {
		return t, true
	}
	best, found := "", Term{}
	for pattern, t := range resources {
		prefix, wild := strings.CutSuffix(pattern, "*")
		isMatch := wild && prefix != "" && strings.HasPrefix(name, prefix)
		if isMatch && len(prefix) > len(best) {
			best, found = prefix, t
		}
	}
	return found, best != ""
}

// addScarce adds the weights of scarce resources. Those that no node has count in the total only.
func (s *strategy) addScarce(resources *resource.Names, weights map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		s.scarceTotal += weights[name]
		if index, ok := resources.Find(name); ok {
			s.scarce = append(s.scarce, strategyTerm{index: index, weight: weights[name]})
		}
	}
}

func (s *Strategy) prepareFor(resources *resource.Names, shape *model.Shape, left map[string]bool) strategy {
	out := strategy{weight: s.Weight, scarceWeight: s.Scarce.Weight}
	terms := s.Resources
	if own, ok, err := ParseOverride(shape.Notes); ok && err == nil {
		terms = own
	}
	for _, t := range shape.Request {
		out.asked = append(out.asked, t.Index)
		name := resources.Name(int(t.Index))
		if term, ok := s.findTerm(terms, name); ok && s.Weight > 0 && !left[name] {
			out.terms = append(out.terms, strategyTerm{int(t.Index), float64(t.Value), term.Weight, term.Most})
			out.total += term.Weight
		}
	}
	if s.Scarce.Weight > 0 {
		out.addScarce(resources, s.Scarce.Resources)
	}
	out.any = out.total > 0 || out.scarceTotal > 0
	return out
}

func (s *strategy) scoreNode(o *overlay.Overlay, base int) float64 {
	points := 0.0
	if s.total > 0 {
		points += s.weight * 100 * s.scoreTerms(o, base) / s.total
	}
	if s.scarceTotal > 0 {
		points += s.scarceWeight * 100 * s.scoreScarcity(o, base)
	}
	return points
}

// scoreTerms returns the weighted sum of the resources' used or free fractions after the pod is placed. It returns 0
// if the pod would exceed the node's amount of a resource.
func (s *strategy) scoreTerms(o *overlay.Overlay, base int) float64 {
	sum := 0.0
	for i := range s.terms {
		t := &s.terms[i]
		alloc := float64(o.Nodes.Alloc[base+t.index])
		if alloc <= 0 {
			continue
		}
		used := alloc - float64(o.Idle[base+t.index]) + t.value
		switch {
		case used > alloc:
			return 0
		case t.most:
			sum += t.weight * used / alloc
		default:
			sum += t.weight * (alloc - used) / alloc
		}
	}
	return sum
}

// scoreScarcity returns 1 for a node without scarce resources, and 0 for a node that has all of them or lacks a
// requested resource. As in Volcano, scarce resources that the pod requests count as well, because they affect all
// nodes that have them equally.
func (s *strategy) scoreScarcity(o *overlay.Overlay, base int) float64 {
	for _, index := range s.asked {
		if o.Nodes.Alloc[base+int(index)] <= 0 {
			return 0
		}
	}
	held := 0.0
	for i := range s.scarce {
		if index := base + s.scarce[i].index; s.scarce[i].index < o.Nodes.Stride && o.Nodes.Alloc[index] > 0 {
			held += s.scarce[i].weight
		}
	}
	return 1 - held/s.scarceTotal
}
