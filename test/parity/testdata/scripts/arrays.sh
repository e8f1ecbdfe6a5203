# Arrays: their elements' environment, files and numbers.
sbatch -Q -W -J arr -a 1-7:3%2 -o 'arr-%a.out' --wrap 'env | grep ^SLURM_ARRAY | grep -v JOB_ID; test $SLURM_ARRAY_JOB_ID != "" && echo HAS=job; test $SLURM_JOB_ID != "" && echo OWN=number' ; echo "rc $?"
for i in 1 4 7; do section vars "element-$i"; cat "arr-$i.out"; done
section lines files; ls arr-*
section lines failing; sbatch -Q -W -a 0-2 -o /dev/null --wrap 'exit $SLURM_ARRAY_TASK_ID'; echo "rc $?"
id=$(sbatch --parsable -H -a 0-9 -o /dev/null --wrap true); job ID "$id"
section lines folded; squeue -h -j "$id" -o '%i %t %D'
scancel "${id}_[0-3]"
section lines some-cancelled; await "! squeue -h -r -j $id -o %i | grep -q _0"; squeue -h -j "$id" -o '%i %t'
scancel "$id"
