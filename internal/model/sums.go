package model

import (
	"slices"

	"github.com/vc-batch/vc/internal/model/resource"
)

// Sums holds the resource sums of a gang or a queue. Each sum is limited to MaxSum.
type Sums struct {
	Allocated resource.Vec // held by tasks that are binding, bound or running, or promised
	Pending   resource.Vec // requested by pending tasks without gates
	Inqueue   resource.Vec // admitted but not used yet
	Elastic   resource.Vec // used beyond the minimum
	Promised  resource.Vec // the part of Allocated that is promised but not bound yet
	Leaving   resource.Vec // used on nodes by pods that are being deleted and have not ended; not part of Allocated
	// Lingering is the amount used on nodes by pods whose end is unknown, because they should have ended already,
	// their node is lost, or their PodGroup was deleted. It is not part of Allocated.
	Lingering resource.Vec
}

func (s *Sums) copyFrom(o *Sums) {
	to, from := s.allVectors(), o.allVectors()
	for i, v := range from {
		*to[i] = append((*to[i])[:0], *v...)
	}
}

// allVectors returns the sums, always in the same order.
func (s *Sums) allVectors() [7]*resource.Vec {
	return [...]*resource.Vec{&s.Allocated, &s.Pending, &s.Inqueue, &s.Elastic, &s.Promised, &s.Leaving, &s.Lingering}
}

// exactSums holds the exact values of Sums, in the order of Sums.allVectors.
type exactSums [7]resource.Balance

func (s *exactSums) add(o *Sums, sign int64) {
	for i, v := range o.allVectors() {
		s[i].Add(*v, sign)
	}
}

func (s *exactSums) writeAllTo(o *Sums) {
	for i, v := range o.allVectors() {
		s[i].WriteSumsTo(v)
	}
}

func cloneSums(s *Sums) Sums {
	fresh := *s
	for _, sum := range fresh.allVectors() {
		*sum = slices.Clone(*sum)
	}
	return fresh
}
