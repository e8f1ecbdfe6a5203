package resource

import "math/bits"

// Balance is a vector of 128-bit sums. Sums cannot overflow, so values that were added can be subtracted again
// exactly, no matter how large they were.
type Balance []wide

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

func (b *Balance) growToLength(n int) {
	for len(*b) < n {
		*b = append(*b, wide{})
	}
}

// AddRequest adds a request, multiplied by sign.
func (b *Balance) AddRequest(r Request, sign int64) {
	for _, t := range r {
		b.growToLength(int(t.Index) + 1)
		(*b)[t.Index].add(sign * t.Value)
	}
}

// Add adds values, multiplied by sign.
func (b *Balance) Add(values []int64, sign int64) {
	b.growToLength(len(values))
	for i, v := range values {
		(*b)[i].add(sign * v)
	}
}

// WriteSumsTo writes the bounded sums to v.
func (b Balance) WriteSumsTo(v *Vec) {
	v.growToLength(len(b))
	for i, w := range b {
		(*v)[i] = w.boundedSum()
	}
}

// Get returns the bounded sum at an index; 0 if the index is beyond the end.
func (b Balance) Get(index int) int64 {
	if index < len(b) {
		return b[index].boundedSum()
	}
	return 0
}

// AddBalance adds sums, multiplied by sign, which is 1 or -1.
func (b *Balance) AddBalance(o Balance, sign int) {
	b.growToLength(len(o))
	for i, w := range o {
		high, low := w.high, w.low
		if sign < 0 {
			var borrow uint64
			low, borrow = bits.Sub64(0, w.low, 0)
			high = -w.high - int64(borrow)
		}
		var carry uint64
		(*b)[i].low, carry = bits.Add64((*b)[i].low, low, 0)
		(*b)[i].high += high + int64(carry)
	}
}
