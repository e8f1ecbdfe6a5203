# How jobs end: the code of sbatch -W, and what scontrol tells.
end() { section lines "$1"; shift; sbatch --parsable -W -o /dev/null "$@" >id.out; echo "rc $?"; id=$(cat id.out); job ID "$id"; scontrol show job "$id" | grep -o 'JobState=[A-Z_]*\|Reason=[A-Za-z]*\|ExitCode=[0-9:]*'; }
end good --wrap true
end bad --wrap 'exit 3'
end killed --wrap 'kill -9 $$'
end terminated --wrap 'kill -15 $$'
end step --wrap 'srun sh -c "exit 5"'
end step-killed --wrap 'srun sh -c "kill -9 \$\$"'
end high --wrap 'exit 137'
section lines cancelled
id=$(sbatch --parsable -o /dev/null --wrap 'sleep 300'); job ID "$id"
await "squeue -h -j $id -t R -o %i | grep -q ."; try scancel "$id"; ended "$id"
scontrol show job "$id" | grep -o 'JobState=[A-Z_]*\|ExitCode=[0-9:]*'
section lines again; try scancel "$id"
section lines held-and-cancelled; id=$(sbatch --parsable -H -o /dev/null --wrap true); job HELD "$id"; try scancel "$id"; ended "$id"; scontrol show job "$id" | grep -o 'JobState=[A-Z_]*\|ExitCode=[0-9:]*'
