package model

import "math/bits"

// exact is a vector of sums of 128 bits: no sum of amounts overflows, so what
// was added can be taken away again, however much it was.
type exact []wide

type wide struct {
	high int64
	low  uint64
}

func (w *wide) add(v int64) {
	low, carry := bits.Add64(w.low, uint64(v), 0)
	w.low, w.high = low, w.high+v>>63+int64(carry)
}

// bounded is the sum as far as it is between 0 and MaxSum.
func (w wide) bounded() int64 {
	switch {
	case w.high < 0:
		return 0
	case w.high > 0 || w.low > uint64(MaxSum):
		return MaxSum
	}
	return int64(w.low)
}

func (e *exact) grow(n int) {
	for len(*e) < n {
		*e = append(*e, wide{})
	}
}

// add adds sign×request.
func (e *exact) add(r Request, sign int64) {
	for _, t := range r {
		e.grow(int(t.Index) + 1)
		(*e)[t.Index].add(sign * t.Value)
	}
}

// addVec adds sign×values.
func (e *exact) addVec(values []int64, sign int64) {
	e.grow(len(values))
	for i, v := range values {
		(*e)[i].add(sign * v)
	}
}

// into writes the bounded sums.
func (e exact) into(v *Vec) {
	v.grow(len(e))
	for i, w := range e {
		(*v)[i] = w.bounded()
	}
}

// exactSums are Sums before they are bounded.
type exactSums struct{ allocated, pending, inqueue, elastic exact }

func (s *exactSums) add(o *Sums, sign int64) {
	s.allocated.addVec(o.Allocated, sign)
	s.pending.addVec(o.Pending, sign)
	s.inqueue.addVec(o.Inqueue, sign)
	s.elastic.addVec(o.Elastic, sign)
}

func (s *exactSums) into(o *Sums) {
	s.allocated.into(&o.Allocated)
	s.pending.into(&o.Pending)
	s.inqueue.into(&o.Inqueue)
	s.elastic.into(&o.Elastic)
}
