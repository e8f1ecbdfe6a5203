// Package getopt parses command lines as Slurm's commands do, by the rules of GNU getopt_long. Long options may be
// abbreviated if that is unambiguous, short options may be combined, and an optional value must be attached to its
// option.
//
//	In:   a Table, which lists the options of a command; the arguments
//	Out:  the specified options in order (Parsed), the help text of the table
//
// # Invariants
//
//   - All functions are pure: the same arguments give the same Parsed or the same *Error.
//   - Parsed contains every argument, as an option, as the value of an option or as an operand.
package getopt
