// Package request parses the options of sbatch, srun and salloc. It contains a table of all options, and combines the
// values from a script, the environment and the command line.
//
//	In:   a script's directives, environment variables, command line arguments
//	Out:  typed values and the source of each (Request), warnings about options without effect
//
// # Invariants
//
//   - Every option in Slurm's manual is in the table. It is mapped, ignored with a warning, or rejected, but never
//     dropped silently.
//   - All functions are pure. The caller provides the current time.
package request
