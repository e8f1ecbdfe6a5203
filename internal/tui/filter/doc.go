// Package filter implements the filter language for rows: words that occur anywhere in the row, and words with a key.
//
//	queue:research st:pd,r gpu>=8 !debug "two words"
//
// All terms must match. A key takes one or more values separated by commas, one of which must match. "!" before a term
// negates it. A value matches a prefix, or is a pattern with "*". After "=", a value must match completely, as in
// filters set by keys, for one queue or for given nodes. Case does not matter. A key without a value matches
// everything, so that rows do not disappear while the user types.
//
//	In:   a text, and the filterable values of rows (Fields)
//	Out:  Filter: does this row match?
//
// Pure: no clock, no I/O.
package filter
