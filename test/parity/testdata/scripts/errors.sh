# What sbatch refuses, in which words and with which code.
printf '#!/bin/sh\ntrue\n' >ok.sh
printf 'true\n' >noshebang.sh
: >empty.sh
printf '#!/bin/sh\n#SBATCH --nonsense\n' >unknown.sh
printf '#!/bin/sh\n#SBATCH word\n' >word.sh
section lines no-file; try sbatch nosuch.sh
section lines no-interpreter; try sbatch noshebang.sh
section lines empty; try sbatch empty.sh
section lines unknown-directive; try sbatch unknown.sh
section lines stray-word; try sbatch word.sh
section lines wrap-and-script; try sbatch --wrap=hostname ok.sh
section lines memory; try sbatch --mem=x ok.sh
section lines time; try sbatch -t 2h ok.sh
section lines tasks; try sbatch -n x ok.sh
section lines partition; try sbatch -p nosuch ok.sh
section lines partitions; try sbatch -p batch,nosuch ok.sh
section lines node; try sbatch -w nosuch ok.sh
section lines dependency; try sbatch -d afterok:99999 ok.sh
section lines array; try sbatch -a 3-1 ok.sh
section lines begin; try sbatch --begin=never ok.sh
section lines gres; try sbatch --gres=unicorn:1 ok.sh
section lines memory-twice; try sbatch --mem=1G --mem-per-cpu=1G ok.sh
section lines signal; try sbatch --signal=nosuch ok.sh
section lines squeue-job; try squeue -j 99999
section lines squeue-word; try squeue -j abc
section lines squeue-state; try squeue -t asleep
section lines squeue-sort; try squeue -S '!'
section lines scancel-job; try scancel 99999
section lines scancel-word; try scancel abc
section lines scancel-nothing; try scancel
section lines scontrol-job; try scontrol show job 99999
section lines scontrol-hold; try scontrol hold 99999
section lines scontrol-node; try scontrol show node nosuch
section lines scontrol-partition; try scontrol show partition nosuch
