# scontrol show job of a held job and of jobs that ended.
printf '#!/bin/bash\ntrue\n' >script.sh
a=$(sbatch --parsable -H -J first -n3 -c1 --mem=100M -t 10 --comment=remark script.sh x y); job A "$a"
section vars held; scontrol show job "$a"
section vars held-one-line; scontrol -o show job "$a"
scontrol release "$a"; ended "$a"
section vars released; scontrol show job "$a"
b=$(sbatch --parsable -W -N2 --ntasks-per-node=2 --wrap 'srun true'); job B "$b"
section vars wide; scontrol show job "$b"
c=$(sbatch --parsable -H -a 0-3%2 script.sh); job C "$c"
section vars array; scontrol show job "$c"
section lines hold; scontrol release "$c"; try scontrol show hostnames 'n[1-3,7]'; try scontrol show hostlist n1,n2,n4
scancel "$c"
