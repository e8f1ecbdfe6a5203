package model

import "math/bits"

// exact is a vector of 128-bit sums. Sums cannot overflow, so values that were added can be subtracted again without
// loss, however large they were.
type exact []wide

type wide struct {
	high int64
	low  uint64
}

func (w *wide) add(v int64) {
	low, carry := bits.Add64(w.low, uint64(v), 0)
	w.low, w.high = low, w.high+v>>63+int64(carry)
}

// boundedSum returns the sum, limited to the range 0 to MaxSum.
func (w wide) boundedSum() int64 {
	switch {
	case w.high < 0:
		return 0
	case w.high > 0 || w.low > uint64(MaxSum):
		return MaxSum
	}
	return int64(w.low)
}

func (e *exact) growToLength(n int) {
	for len(*e) < n {
		*e = append(*e, wide{})
	}
}

// add adds a request, multiplied by sign.
func (e *exact) add(r Request, sign int64) {
	for _, t := range r {
		e.growToLength(int(t.Index) + 1)
		(*e)[t.Index].add(sign * t.Value)
	}
}

// addVec adds values, multiplied by sign.
func (e *exact) addVec(values []int64, sign int64) {
	e.growToLength(len(values))
	for i, v := range values {
		(*e)[i].add(sign * v)
	}
}

// writeSumsTo writes the bounded sums to v.
func (e exact) writeSumsTo(v *Vec) {
	v.growToLength(len(e))
	for i, w := range e {
		(*v)[i] = w.boundedSum()
	}
}

// addExact adds sums, multiplied by sign, which is 1 or -1.
func (e *exact) addExact(o exact, sign int) {
	e.growToLength(len(o))
	for i, w := range o {
		high, low := w.high, w.low
		if sign < 0 {
			var borrow uint64
			low, borrow = bits.Sub64(0, w.low, 0)
			high = -w.high - int64(borrow)
		}
		var carry uint64
		(*e)[i].low, carry = bits.Add64((*e)[i].low, low, 0)
		(*e)[i].high += high + int64(carry)
	}
}

// exactSums holds the exact values of Sums, in the order of Sums.allVectors.
type exactSums [7]exact

func (s *exactSums) add(o *Sums, sign int64) {
	for i, v := range o.allVectors() {
		s[i].addVec(*v, sign)
	}
}

func (s *exactSums) writeAllTo(o *Sums) {
	for i, v := range o.allVectors() {
		s[i].writeSumsTo(v)
	}
}
