# The environment of a batch script.
show() { section vars "$1"; shift; settled; sbatch -W -o env.out "$@" --wrap 'env | grep ^SLURM' >id.out; cat env.out; job ID "$(sed 's/.* //' id.out)"; rm env.out; }
show plain -J plain
show tasks -n3 -c1
show nodes -N2 -n4
show per-node -N2 --ntasks-per-node=2 -c2
show cpus -c3 --mem=100M
show per-cpu -n2 --mem-per-cpu=50
show time -t 10
show named -J name --comment=hi --exclusive
