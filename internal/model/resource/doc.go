// Package resource defines amounts of resources and vectors of such amounts.
//
// Names assigns a small index to each resource name. A Request is a sparse vector keyed by these indexes, a Vec is a
// dense one, and a Balance is a dense vector of sums that cannot overflow. The conversions from API quantities round
// requests up and capacities down.
package resource
