# squeue over held jobs, in the formats that programs use.
a=$(sbatch --parsable -H -J first -n3 --mem=100M -t 10 --wrap 'sleep 1'); job A "$a"
b=$(sbatch --parsable -H -J averyverylongnameofajob -N2 -a 1-5%2 --wrap 'sleep 1'); job B "$b"
c=$(sbatch --parsable -H -d "afterok:$a" --comment='a remark' --nice=0 --wrap 'sleep 1'); job C "$c"
jobs="$a,$b,$c"
section lines default; try squeue -j "$jobs" -S i
section lines long; squeue -l -j "$jobs" -S i | tail -n +2
section table letters; try squeue -j "$jobs" -S i -o '%i|%A|%a|%b|%c|%C|%d|%D|%e|%E|%f|%F|%h|%H|%I|%j|%J|%k|%K|%l|%L|%m|%M|%n|%N|%o|%O|%P|%q|%r|%R|%S|%t|%T|%u|%U|%v|%w|%W|%x|%X|%y|%Y|%z|%Z' | grep -v '^rc '
section lines unknown; try squeue -h -j "$a" -o '%i %! %.7! %j'
section lines words; try squeue -j "$jobs" -S i -O 'JobID,Name,State,TimeLimit'
section lines no-width; try squeue -j "$a" -O 'State: ,JobID: ,Name:'
section lines comma; try squeue -j "$a" -O 'JobID:|,State:|,'
section lines unknown-word; try squeue -j "$a" -O 'JobID:8,Colour,State:9'
section table words-all; try squeue -j "$jobs" -S i --all --states=all --noconvert -O 'JobArrayID:|,Account:|,UserName:|,GroupName:|,NumCPUs:|,NumNodes:|,NumTasks:|,MinMemory:|,tres-per-node:|,Partition:|,Reason:|,StateCompact:|,TimeUsed:|,Dependency:|,Comment:|,Requeue:|,RestartCnt:|,cpus-per-task:|' | grep -v '^rc '
section lines each; try squeue -r -h -j "$b" -o '%i %t %r'
section lines element; try squeue -h -j "${b}_[2-3]" -o '%i'
section lines literal; try squeue -h -j "$a" -o 'job=%i;'
section lines by-number; try squeue -h -u "$(id -u)" -j "$a" -o '%i %U'
section lines other-names; try squeue -h --users="$(id -un)" -j "$a" -o %i
section lines state; try squeue -h -t R -j "$jobs"
section lines unknown-user; squeue -h -u nosuchuser -j "$a" 2>/dev/null; echo "rc $?"
section lines sorted; try squeue -h -j "$jobs" -S -j -o '%j'
scancel "$a" "$b" "$c"
