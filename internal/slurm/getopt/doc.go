// Package getopt reads command lines as Slurm's commands do: by the rules of GNU getopt_long. Long options may be cut
// short where that is unique, short ones may be written in clusters, and a value that may be left out has to be glued to its option.
//
//	In:   a Table, which lists the options of a command; words
//	Out:  Parsed: what was given, in order; the help of the same table
//
// # Invariants
//
//   - Pure: the same words give the same Parsed, or the same *Error.
//   - Every word is in Parsed, as an option, as its value or as an operand.
package getopt
