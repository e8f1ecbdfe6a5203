# What steps print and how they end, and what scontrol shows of a job that runs.
cat >steps.sbatch <<'END'
#!/bin/bash
srun -n1 sh -c 'echo out; echo err >&2' 2>/dev/null
srun -n2 --output=step-%t.txt sh -c 'echo $SLURM_PROCID'; cat step-0.txt step-1.txt
srun -n1 sh -c '[ "$SLURM_TASK_PID" = $$ ] && echo pid'
[ "$SLURM_TASK_PID" = $$ ] && echo script pid
srun -n1 -J other sh -c 'echo $SLURM_JOB_NAME $SLURM_STEP_ID'
srun -n1 sh -c 'exit 9' 2>&1 | sed 's/error: [^:]*: task/error: NODE: task/'; echo "rc ${PIPESTATUS[0]}"
srun -n2 sh -c 'exit $((SLURM_PROCID + 4))' 2>/dev/null; echo "highest $?"
srun --input=none -n1 cat; echo "nothing $?"
echo "$SLURM_JOB_USER $SLURM_JOB_UID $SLURM_JOB_GID"
END
section lines steps; settled; sbatch -Q -W -n2 -o steps.txt steps.sbatch; echo "rc $?"; grep -v 'temporarily disabled\|Step created' steps.txt
section lines order; settled; sbatch -Q -W -o order.txt --wrap 'for i in $(seq 50); do echo $i; echo $i >&2; done'; cat order.txt
section lines running; a=$(sbatch --parsable -o told.txt --wrap 'sleep 300'); job A "$a"; await "squeue -h -j $a -t R -o %i | grep -q ."; squeue -h -j "$a" -o %t
section lines step; scontrol -o show step "$a" | grep -o 'StepId=[^ ]*\|State=[A-Z]*\|Nodes=1\|Tasks=[0-9]*\|Name=[a-z]*' | head -n 5
section lines details; scontrol -d show job "$a" | grep -o 'JOB_GRES=[^ ]*\|CPU_IDs=[0-9-]*'
section lines notified; try scontrol notify "$a" hello there; await 'grep -q hello told.txt'; grep -o 'slurmstepd.*hello there' told.txt | sed 's/slurmstepd-[^:]*/slurmstepd/'
section lines account; try scontrol update JobId="$a" Comment=another; scontrol show job "$a" | grep -o 'Comment=[a-z]*'
scancel "$a"; ended "$a"
section lines steps-of-an-ended-job; scontrol show step "$a" >/dev/null 2>&1; echo "rc $?"
section lines cluster; try sbatch --cluster=nosuch --wrap true | tail -n 1
