// Package request is what a person asks for with the options of sbatch, srun and salloc: one table of all of them, and the values
// that they were given in a script, in the environment and on the command line.
//
//	In:   a script's directives, variables, words
//	Out:  Request: typed values, and where each came from; warnings for what has no effect
//
// # Invariants
//
//   - Every option of Slurm's manual is in the table, and is mapped, warned about or refused: nothing is dropped in silence.
//   - Pure but for the moment that is handed in.
package request
