package model

// Balance is a vector of sums. Values that were added can be subtracted again without loss, however large they were.
type Balance struct{ sums exact }

// Add adds values, multiplied by sign.
func (b *Balance) Add(values Vec, sign int64) { b.sums.addVec(values, sign) }

// WriteSumsTo writes the sums to v. Each is limited to MaxSum.
func (b *Balance) WriteSumsTo(v *Vec) { b.sums.writeSumsTo(v) }
