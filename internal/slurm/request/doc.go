// Package request reads the options of sbatch, srun and salloc. It contains one table of all options, and combines
// their values from a script, the environment and the command line.
//
//	In:   a script's directives, variables, command line arguments
//	Out:  Request: typed values and the source of each; warnings for options without effect
//
// # Invariants
//
//   - Every option of Slurm's manual is in the table and is mapped, ignored with a warning or refused: none is
//     dropped silently.
//   - Pure, except that the caller provides the current time.
package request
