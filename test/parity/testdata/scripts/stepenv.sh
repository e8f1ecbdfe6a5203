# The environment of a step's first task.
cat >step.sh <<'END'
#!/bin/bash
srun -n1 -N1 env | grep ^SLURM
END
cat >wide.sh <<'END'
#!/bin/bash
srun bash -c 'if [ $SLURM_PROCID = 3 ]; then env | grep ^SLURM; fi'
END
show() { section vars "$1"; shift; settled; sbatch -W -o env.out "$@" >id.out; cat env.out; job ID "$(sed 's/.* //' id.out)"; rm env.out; }
show one -n1 step.sh
show last-of-four -N2 --ntasks-per-node=2 wide.sh
