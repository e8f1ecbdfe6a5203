# What scripts and steps print, and where it goes.
cat >hello.sh <<'END'
#!/bin/bash
echo "args: $#: $*"
pwd
srun -n2 bash -c 'echo task $SLURM_PROCID of $SLURM_NTASKS' | sort
srun -n4 -l echo labelled | sort
srun -N2 -n2 hostname | wc -l
srun -n3 cat <<<input
srun -n2 bash -c 'exit $SLURM_PROCID'; echo "step ended with $?"
srun nosuchprogram 2>/dev/null; echo "missing program $?"
cat; echo end
exit 3
END
section lines script; try sbatch -W -N2 -n4 -o out.txt hello.sh 'a b' c; grep -v 'temporarily disabled\|Step created' out.txt | sed 's/error: [^:]*: task/error: NODE: task/'
job ID "$(sed -n 's/.*job //p' try.out | head -n1)"
section lines wrap; try sbatch -Q -W -o wrap.txt --wrap 'echo hi; exit 7'; cat wrap.txt
section lines stdin; printf '#!/bin/sh\necho from stdin "$@"\n' | sbatch -Q -W -o stdin.txt; cat stdin.txt
section lines error-file; sbatch -Q -W -o o.txt -e e.txt --wrap 'echo out; echo err >&2'; cat o.txt; sed 's/^/e: /' e.txt
section lines patterns; sbatch -Q -W -J nm -o 'p-%x-%u-%%.out' --wrap 'true'; ls p-*
section lines append; echo before >a.txt; sbatch -Q -W -o a.txt --open-mode=append --wrap 'echo after'; cat a.txt
section lines chdir; mkdir sub; sbatch -Q -W -D sub -o in.txt --wrap 'pwd'; cat sub/in.txt
section lines input; echo content >in.txt; sbatch -Q -W -i in.txt -o i.txt --wrap cat; cat i.txt
section lines parsable; sbatch --parsable -o /dev/null --wrap true >n.txt; grep -c '^[0-9][0-9]*$' n.txt
section lines awk; sbatch --mail-type=END --hint=nomultithread -o /dev/null --wrap true 2>&1 | awk '{print NF}'
