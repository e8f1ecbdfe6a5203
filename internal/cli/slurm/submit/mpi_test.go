package submit

import "testing"

func TestScriptsThatNeedPMIAreFound(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"#!/bin/bash\nsrun --mpi=pmix ./a.out\n":               2,
		"#!/bin/bash\n\nsrun -n 4 --mpi pmi2 ./a.out\n":        3,
		"export SLURM_MPI_TYPE=pmix_v4\nsrun ./a.out":          1,
		"export SLURM_MPI_TYPE=\"pmi2\"\nsrun ./a.out":         1,
		"time srun --mpi=openmpi ./a.out":                      1,
		"srun --mpi=none ./a.out\nsrun --mpi=list":             0,
		"# srun --mpi=pmix ./a.out\nmpirun ./a.out":            0,
		"srun ./a.out # --mpi=pmix":                            0,
		"./configure --mpi=pmix\necho srun":                    0,
		"srun ./a.out --mpi-threads=4 --mpirun=pmix\nwait\n\n": 0,
	} {
		if got := findMPILine([]byte(script)); got != want {
			t.Errorf("%q: line %d, want %d", script, got, want)
		}
	}
}
