package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestProgramsThatUseSlurm runs programs that use Slurm on process nodes, with the links of `vcctl slurm install` on
// PATH. Snakemake, Toil, batchtools and rslurm are the real programs of Debian if they are installed. Programs from PyPI
// or from their own sites are replaced by scripts that call the same commands in the same form and order, and parse the
// output in the same way. Their texts are our own. (The machine of the tests reaches only the registries of Debian, Go
// and npm. `pip download submitit` finds no PyPI host, which also affects dask-jobqueue, lightning and
// snakemake-executor-plugin-slurm.)
func TestProgramsThatUseSlurm(t *testing.T) {
	u := &slurmUser{cluster: startCluster(t, "--process-nodes=2", "--node-cpu=16", "--node-memory=64Gi"), dir: t.TempDir()}
	links := filepath.Join(u.dir, "links")
	if err := os.Mkdir(links, 0o755); err != nil {
		t.Fatal(err)
	}
	u.must("", "vcctl", "slurm", "install", "--dir", links)
	for name, run := range map[string]func(*program){
		"Snakemake": (*program).snakemake, "Toil": (*program).toil, "batchtools": (*program).batchtools, "rslurm": (*program).rslurm,
		"as the plugin of Snakemake does": (*program).snakemakePlugin, "as Lightning requeues": (*program).lightningRequeues, "as Nextflow does": (*program).nextflow, "as submitit does": (*program).submitit,
		"as dask-jobqueue does": (*program).daskJobqueue, "as Lightning does": (*program).lightning,
	} {
		dir := filepath.Join(u.dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			mine := *u.cluster
			mine.t = t
			run(&program{u: &slurmUser{cluster: &mine, dir: dir}, t: t, dir: dir, path: links + ":" + os.Getenv("PATH")})
		})
	}
}

// program is a program that uses Slurm, in its own directory.
type program struct {
	u         *slurmUser
	t         *testing.T
	dir, path string
}

// does runs a shell line that must succeed, and returns its output on both streams.
func (p *program) does(line string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.u.kubeconfig, "HOME="+p.u.cluster.dir, "PATH="+p.path, "USER=root", "LOGNAME=root")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%s: %v\n%s", line, err, out.String())
	}
	return out.String()
}

func (p *program) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) reads(name, want string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil || string(text) != want {
		p.t.Errorf("%s has %q (%v), want %q", name, text, err, want)
	}
}

// submits submits a job as programs do, and parses the number in the output line.
func (p *program) submits(line string) string {
	p.t.Helper()
	out := p.does(line)
	found := regexp.MustCompile(`Submitted batch job (\d+)`).FindStringSubmatch(out)
	if found == nil || strings.Contains(strings.ToLower(out), "error") || !strings.HasSuffix(out, found[1]+"\n") {
		p.t.Fatalf("%s: %q", line, out)
	}
	return found[1]
}

// polls repeats a line until its output is the expected one.
func (p *program) polls(line string, done func(answer string) bool) {
	p.t.Helper()
	p.u.eventually(60*time.Second, line, func() error {
		if out := p.does(line); !done(strings.TrimSpace(out)) {
			return errors.New(out)
		}
		return nil
	})
}

// snakemake runs version 7 of Debian with its built-in support for Slurm: sbatch with a wrapped command and
// --export=ALL for each rule, sinfo for the partition, srun --cpu-bind inside, sacct for the state, and the last word
// of sbatch's output as the number.
func (p *program) snakemake() {
	if _, err := exec.LookPath("snakemake"); err != nil {
		p.t.Skip("SKIPPED: snakemake is not installed (Debian: snakemake)")
	}
	if exec.Command("/usr/bin/python3", "-c", "import snakemake.executors.slurm.slurm_submit").Run() != nil {
		p.t.Skip("SKIPPED: this is not the snakemake 7 of Debian, which has --slurm")
	}
	p.write("Snakefile", `rule all:
    input: "sum.txt"

rule part:
    output: "part-{n}.txt"
    resources: mem_mb=512, runtime=5
    shell: "echo {wildcards.n} on job $SLURM_JOB_ID step $SLURM_STEP_ID >{output}"

rule join:
    input: expand("part-{n}.txt", n=[1, 2, 3])
    output: "sum.txt"
    threads: 2
    resources: mem_mb=512, runtime=5
    shell: "cut -d' ' -f1 {input} | paste -sd+ >{output}; echo $SLURM_CPUS_PER_TASK >>{output}"

rule fails:
    output: "never.txt"
    resources: mem_mb=512, runtime=5
    shell: "exit 3"
`)
	// With more than one status check per second, Snakemake would query the state only twice per minute.
	out := p.does("snakemake --slurm --jobs 3 --latency-wait 10 --max-status-checks-per-second 1 --keep-going all never.txt; true")
	if !strings.Contains(out, "failed, SLURM status is: 'FAILED'") {
		p.t.Errorf("a rule that fails:\n%s", out)
	}
	p.reads("sum.txt", "1+2+3\n2\n")
	logs, _ := filepath.Glob(filepath.Join(p.dir, ".snakemake/slurm_logs/rule_part/*.log"))
	if strings.Count(out, "has been submitted with SLURM jobid ") != 5 || len(logs) != 3 {
		p.t.Errorf("%d logs\n%s", len(logs), out)
	}
}

// snakemakePlugin imitates the executor plugin that Snakemake uses since version 8. A run has one name, a UUID, with
// which sacct is queried for all its jobs in all clusters. The log is named with %j below the working directory, and
// the rule is a step in the wrapped command.
func (p *program) snakemakePlugin() {
	const uuid = "7d8e3a52-0a3c-4f0b-9a5e-5b8f6f0f3c11"
	logs := filepath.Join(p.dir, ".snakemake/slurm_logs/rule_part")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		p.t.Fatal(err)
	}
	submit := func(n int, command string) string {
		out := strings.TrimSpace(p.does(fmt.Sprintf("sbatch --parsable --job-name %s --output '%s/%%j.log' --export=ALL --comment 'rule_part_wildcards_%d' -A 'lab' -p default -t 5 --mem 512 --ntasks=1 --cpus-per-task=2 -D %s --wrap=\"%s\" 2>>errors",
			uuid, logs, n, p.dir, command)))
		id, _, _ := strings.Cut(out, ";")
		if _, err := strconv.Atoi(id); err != nil {
			p.t.Fatalf("sbatch prints %q", out)
		}
		return id
	}
	well := submit(1, "srun -n1 --cpu-bind=q --cpus-per-task 2 sh -c 'echo $(pwd) >part-1.txt; echo said'")
	badly, endless := submit(2, "srun -n1 --cpu-bind=q exit3 || exit 3"), submit(3, "srun -n1 --cpu-bind=q sleep 300")
	since := time.Now().Add(-48 * time.Hour).Format("2006-01-02T15:00")
	states := map[string]string{}
	status := "sacct -X --parsable2 --clusters all --noheader --format=JobIdRaw,State --starttime " + since + " --endtime now --name " + uuid
	are := func(want ...string) func(string) bool {
		return func(answer string) bool {
			for line := range strings.SplitSeq(answer, "\n") {
				id, state, _ := strings.Cut(line, "|")
				states[id], _, _ = strings.Cut(state, " ")
			}
			return len(states) == 3 && slices.Equal(want, []string{states[well], states[badly], states[endless]})
		}
	}
	p.polls(status, are("COMPLETED", "FAILED", "RUNNING"))
	p.does("scancel " + endless + " --clusters=all")
	p.polls(status, are("COMPLETED", "FAILED", "CANCELLED"))
	p.reads("part-1.txt", p.dir+"\n")
	p.reads(".snakemake/slurm_logs/rule_part/"+well+".log", "said\n")
	if said, err := os.ReadFile(filepath.Join(p.dir, "errors")); err != nil || strings.Contains(strings.ToLower(string(said)), "submission failed") {
		p.t.Errorf("sbatch says %q (%v)", said, err)
	}
}

// nextflow submits a script in the directory of the task, with its log next to it, and queries squeue with two columns
// for all jobs of the user.
func (p *program) nextflow() {
	p.write(".command.run", "#!/bin/bash\n#SBATCH -J nf-align_(1)\n#SBATCH -o "+p.dir+"/.command.log\n#SBATCH --no-requeue\n#SBATCH --signal B:USR2@30\n"+
		"#SBATCH -c 2\n#SBATCH -t 00:05:00\n#SBATCH --mem 512M\n#SBATCH -p default\n"+
		"cd "+p.dir+"\non_exit() { echo ${1:-$?} >.exitcode; }\ntrap 'on_exit 143; exit 143' USR2 TERM\ntrap on_exit EXIT\necho aligned on $SLURM_CPUS_PER_TASK\n[ -z \"$LONG\" ] || { sleep 300 & wait; }\n")
	id := p.submits("sbatch .command.run")
	columns := func(id, states string) func(string) bool {
		return func(answer string) bool {
			return slices.ContainsFunc(strings.Split(answer, "\n"), func(line string) bool {
				word, state, two := strings.Cut(line, " ")
				return two && word == id && slices.Contains(strings.Split(states, " "), state)
			})
		}
	}
	status := "squeue --noheader -o '%i %t' -t all -u root"
	p.polls(status, columns(id, "CD"))
	p.reads(".exitcode", "0\n")
	p.reads(".command.log", "aligned on 2\n")
	long := p.submits("sed 's/^cd /LONG=1; cd /' .command.run >long.run && sbatch long.run")
	p.polls(status, columns(long, "R"))
	p.does("scancel " + long)
	p.polls(status, columns(long, "CA"))
	p.u.eventually(60*time.Second, "the task says that it was ended", func() error { // Nextflow's result of a cancelled task
		if text, err := os.ReadFile(filepath.Join(p.dir, ".exitcode")); string(text) != "143\n" {
			return fmt.Errorf("%q %v", text, err)
		}
		return nil
	})
}

// submitit submits an array whose elements are steps with their own files. A signal makes one of them requeue itself
// from inside.
func (p *program) submitit() {
	p.write("submission.sh", "#!/bin/bash\n\n# Parameters\n#SBATCH --array=0-2%256\n#SBATCH --cpus-per-task=1\n#SBATCH --error="+p.dir+"/%A_%a_0_log.err\n#SBATCH --job-name=submitit\n#SBATCH --mem=1GB\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n"+
		"#SBATCH --open-mode=append\n#SBATCH --output="+p.dir+"/%A_%a_0_log.out\n#SBATCH --signal=USR1@90\n#SBATCH --time=5\n#SBATCH --wckey=submitit\n\n# command\nexport SUBMITIT_EXECUTOR=slurm\n"+
		"srun --unbuffered --output "+p.dir+"/%A_%a_%t_log.out --error "+p.dir+"/%A_%a_%t_log.err bash "+p.dir+"/task.sh\n")
	p.write("task.sh", `me=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
if [ $SLURM_ARRAY_TASK_ID = 1 ] && [ -z "$SLURM_RESTART_COUNT" ]; then
	trap 'echo asked; scontrol requeue $me' USR1
	touch `+p.dir+`/waits
	while :; do sleep 0.2; done
fi
[ $SLURM_ARRAY_TASK_ID != 2 ] || exit 4
echo done $SUBMITIT_EXECUTOR $SLURM_RESTART_COUNT
`)
	id := p.submits("sbatch submission.sh")
	p.u.eventually(60*time.Second, "an element waits for its signal", func() error {
		_, err := os.Stat(filepath.Join(p.dir, "waits"))
		return err
	})
	p.does("scancel " + id + "_1 --signal USR1")
	states := func(answer string) map[string]string {
		found := map[string]string{}
		for line := range strings.SplitSeq(answer, "\n") {
			word, state, _ := strings.Cut(line, "|")
			found[word] = state
		}
		return found
	}
	p.polls("sacct -o JobID,State,NodeList --parsable2 -j "+id, func(answer string) bool {
		found := states(answer)
		return strings.HasPrefix(answer, "JobID|State|NodeList\n") && strings.HasPrefix(found[id+"_0"], "COMPLETED|") && strings.HasPrefix(found[id+"_1"], "COMPLETED|") && strings.HasPrefix(found[id+"_2"], "FAILED|")
	})
	p.reads(id+"_0_0_log.out", "done slurm\n")
	text, _ := os.ReadFile(filepath.Join(p.dir, id+"_1_0_log.out"))
	if !strings.Contains(string(text), "done slurm 1\n") {
		p.t.Errorf("the element that was run again has %q", text)
	}
}

// daskJobqueue submits workers and cancels them, with files named with %J and the job's number from a variable.
func (p *program) daskJobqueue() {
	p.write("worker.sh", "#!/usr/bin/env bash\n\n#SBATCH -J dask-worker\n#SBATCH -e "+p.dir+"/dask-worker-%J.err\n#SBATCH -o "+p.dir+"/dask-worker-%J.out\n#SBATCH -p default\n#SBATCH -n 1\n#SBATCH --cpus-per-task=2\n#SBATCH --mem=2G\n#SBATCH -t 00:30:00\n"+
		"JOB_ID=${SLURM_JOB_ID%;*}\n\necho worker $JOB_ID; sleep 300 & wait\n")
	id := p.submits("sbatch worker.sh")
	file := filepath.Join(p.dir, "dask-worker-"+id+".out")
	p.u.eventually(60*time.Second, "the worker writes", func() error {
		if text, err := os.ReadFile(file); err != nil || string(text) != "worker "+id+"\n" {
			return fmt.Errorf("%q %v", text, err)
		}
		return nil
	})
	p.does("scancel " + id)
	p.polls("squeue -h -o %t -j "+id, func(answer string) bool { return answer == "" || answer == "CG" })
	p.polls("sacct -X -n -P -o State -j "+id, func(answer string) bool { return answer == "CANCELLED by root" })
}

// lightningRequeues tests that the ranks get SIGUSR1 before the time limit. Each writes a checkpoint, and the first one
// requeues the job.
func (p *program) lightningRequeues() {
	p.write("train.sh", `mark=checkpoint-$SLURM_PROCID
[ ! -e $mark ] || { echo $SLURM_PROCID goes on after $SLURM_RESTART_COUNT; exit 0; }
save() {
	touch $mark
	[ $SLURM_PROCID != 0 ] || { until [ -e checkpoint-1 ]; do sleep 0.1; done; scontrol requeue $SLURM_JOB_ID; }
}
trap save USR1
while :; do sleep 0.2; done
`)
	p.write("train.sbatch", "#!/bin/bash -l\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --time=0-00:02:00\n#SBATCH --signal=SIGUSR1@110\n#SBATCH --open-mode=append\n#SBATCH -o "+p.dir+"/train-%j.log\nsrun bash "+p.dir+"/train.sh\n")
	id := p.submits("sbatch train.sbatch")
	p.polls("sacct -X -n -P -o State,Restarts -j "+id, func(answer string) bool { return answer == "COMPLETED|1" })
	text, _ := os.ReadFile(filepath.Join(p.dir, "train-"+id+".log"))
	if got := sortedLines(string(text)); !slices.Contains(got, "0 goes on after 1") || !slices.Contains(got, "1 goes on after 1") {
		p.t.Errorf("the ranks say\n%s", text)
	}
}

// lightning tests that ranks connect with the variables of srun and the name of the first node.
func (p *program) lightning() {
	p.write("train.sh", `root=$(scontrol show hostnames "$SLURM_NODELIST" | head -n 1)
port=$((15000 + 10#$(printf %s "$SLURM_JOB_ID" | tail -c 4)))
[ "$root:$port" = "$MASTER_ADDR:$MASTER_PORT" ] || echo "meets at $root:$port, not at $MASTER_ADDR:$MASTER_PORT"
(exec 3<>"/dev/tcp/$root/6818") 2>/dev/null && found=found || found="no $root"
echo "$SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID of $SLURM_NTASKS $SLURM_NTASKS_PER_NODE $found"
`)
	p.write("train.sbatch", "#!/bin/bash -l\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=2\n#SBATCH --mem=1G\n#SBATCH --time=0-00:05:00\n#SBATCH --signal=SIGUSR1@90\n#SBATCH -o "+p.dir+"/train-%j.log\nexport NCCL_DEBUG=INFO\nsrun bash "+p.dir+"/train.sh\n")
	id := p.submits("sbatch train.sbatch")
	p.polls("sacct -X -n -P -o State -j "+id, func(answer string) bool { return answer == "COMPLETED" })
	text, _ := os.ReadFile(filepath.Join(p.dir, "train-"+id+".log"))
	want := []string{"0 0 0 of 4 2 found", "1 1 0 of 4 2 found", "2 0 1 of 4 2 found", "3 1 1 of 4 2 found"}
	if got := sortedLines(string(text)); !slices.Equal(got, want) {
		p.t.Errorf("the ranks say\n%s", text)
	}
}
