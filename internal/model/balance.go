package model

// Balance is a vector of sums from which what was added can be taken away again,
// however much it was.
type Balance struct{ sums exact }

// Add adds sign×values.
func (b *Balance) Add(values Vec, sign int64) { b.sums.addVec(values, sign) }

// Into writes the sums, none above MaxSum.
func (b *Balance) Into(v *Vec) { b.sums.into(v) }
