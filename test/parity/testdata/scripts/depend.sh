# Dependencies.
a=$(sbatch --parsable -H -o /dev/null --wrap 'exit 1'); job A "$a"
b=$(sbatch --parsable -d "afterok:$a" -o /dev/null --wrap true); job B "$b"
c=$(sbatch --parsable -d "afternotok:$a" -o c.txt --wrap 'echo ran'); job C "$c"
d=$(sbatch --parsable -d "afterany:$a:$c" -o d.txt --wrap 'echo ran too'); job D "$d"
section lines waiting; squeue -h -S i -j "$b,$c,$d" -o '%i %t %r %E'
scontrol release "$a"; ended "$d"
section lines ran; cat c.txt d.txt
section lines never; await "squeue -h -j $b -o %r | grep -q Never"; squeue -h -j "$b" -o '%i %t %r'
scancel "$b"
