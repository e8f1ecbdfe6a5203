// Package request parses the options of sbatch, srun and salloc. It contains a table of all options, and combines
// their values from a script, the environment and the command line.
//
//	In:   a script's directives, variables, command line arguments
//	Out:  Request: typed values and the source of each; warnings for options without effect
//
// # Invariants
//
//   - Every option in Slurm's manual is in the table. It is mapped, ignored with a warning, or rejected; no option
//     is dropped silently.
//   - All functions are pure; the caller provides the current time.
package request
