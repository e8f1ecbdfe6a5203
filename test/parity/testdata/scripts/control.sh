# Signals for scripts, and changes of held jobs.
section lines signal; settled; b=$(sbatch --parsable -o sig.txt --wrap 'trap "echo usr1; exit 5" USR1; echo ready; while :; do sleep 0.1; done'); job B "$b"
await 'grep -q ready sig.txt'; try scancel -b -s USR1 "$b"; ended "$b"; cat sig.txt; scontrol show job "$b" | grep -o 'JobState=[A-Z]*\|ExitCode=[0-9:]*'
section lines held; c=$(sbatch --parsable -H -o /dev/null --wrap true); job C "$c"; try scontrol update JobId="$c" TimeLimit=5 JobName=renamed; squeue -h -j "$c" -o '%j %l'
try scontrol hold "$c"; try scontrol release "$c"; ended "$c"; scontrol show job "$c" | grep -o 'JobName=[a-z]*\|JobState=[A-Z]*'
