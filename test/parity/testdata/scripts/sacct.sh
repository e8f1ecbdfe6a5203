# needs: accounting
# What sacct tells of jobs that ended in several ways.
show='JobID,JobName,Partition,State,ExitCode,DerivedExitCode,AllocCPUS,NCPUS,ReqCPUS,NNodes,NTasks,Timelimit,User,Group,UID,GID,Submit,Start,End,Reason,NodeList,WorkDir,Comment,Priority,QOS,Cluster,Account,ReqMem,ReqTRES,AllocTRES,Constraints,Suspended,Restarts'
show=${show%,Restarts}
# slurmdbd hears of the start of a job after the start of its steps at times, and calls it allocation until then
kept() { await "sacct -X -n -P -j $1 -o JobName,Start,End | grep -v ^allocation | grep -q T.*T"; await "test \$(sacct -X -n -P -j $1 -o End | grep -c T) = ${2:-1}"; }
table() { section table "$1"; sacct -P -j "$2" -o "$show"; }
a=$(sbatch --parsable -W -J good -t 10 -o /dev/null --comment=remark --wrap 'srun true'); job A "$a"; kept "$a"; table good "$a"
b=$(sbatch --parsable -W -J bad -o /dev/null --wrap 'srun sh -c "exit 2"; exit 3'); job B "$b"; kept "$b"; table bad "$b"
c=$(sbatch --parsable -W -J killed -o /dev/null --wrap 'kill -9 $$'); job C "$c"; kept "$c"; table killed "$c"
d=$(sbatch --parsable -W -J wide -N2 --ntasks-per-node=2 -o /dev/null --wrap 'srun true; srun -n1 -N1 -J named true'); job D "$d"; kept "$d"; table wide "$d"
# The signal must find one process that runs: Slurm records 0:0 for a step that is cancelled before its script starts, and the
# exit code of a shell whose child ends first
e=$(sbatch --parsable -J stopped -o stopped.out --wrap 'echo started; exec sleep 300'); job E "$e"; await "grep -q started stopped.out"; scancel "$e"; kept "$e"; table cancelled "$e"
f=$(sbatch --parsable -W -J arr -a 1-2 -o /dev/null --wrap 'exit 0'); job F "$f"; kept "$f" 2; table array "$f"
section lines default; sacct -X -j "$a" | cut -c1-80
section lines abbreviated; try sacct -X -n -P -j "$a" --format=User,JobID,Jobname,partition,state,time,nnodes,ncpus
section lines unknown; try sacct -j "$a" -o JobID,Colour
section lines nothing; try sacct -n -j 99999
section lines other-user; try sacct -X -n -a -u nosuchuser2 -o jobid
section lines dash-date; sacct -X -n -P -j "$a" -S 01/01-10:00 -o JobID; echo "rc $?"
section lines bad-date; sacct -S yesterdayish 2>/dev/null; echo "rc $?"
section lines states; sacct -X -n -P -j "$a,$b,$c" -S now-1hour -E now -s F -o JobID,State
section lines nodes; sacct -X -n -P -j "$a,$d" -i 2-4 -o JobID
section lines parsable; sacct -X -p -j "$a" -o JobID,State,ExitCode
