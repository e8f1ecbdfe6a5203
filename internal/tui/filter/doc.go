// Package filter is the language in which rows are filtered: words that stand
// somewhere in the row, and words with a key.
//
//	queue:research st:pd,r gpu>=8 !debug "two words"
//
// All terms must hold. A key takes one or several values with commas between them,
// of which one must hold; "!" before a term turns it round. Values are the beginning
// of what is compared, or a pattern with "*"; after "=" they are the whole of it, as
// keys write them that mean one queue or some nodes. Capitals do not matter. A key
// without a value yet holds for all, so that rows do not vanish while one types.
//
//	In:   a text, and what rows have (Fields)
//	Out:  Filter: does this row match?
//
// Pure: no clock, no I/O.
package filter
