package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// toilWorkflow is a chain of a first job, parallel jobs and a last job. The job "flaky" fails once. With --greedy, one
// job uses more memory than it requests until Toil requests more.
const toilWorkflow = `import os
from toil.common import Toil
from toil.job import Job

def part(job, n, out):
    assert os.environ["SLURM_CPUS_PER_TASK"] == "2" and os.environ["SLURM_JOB_ID"]
    return n * n

def flaky(job, out):
    mark = os.path.join(out, "failed-once")
    if not os.path.exists(mark):
        open(mark, "w").close()
        os._exit(3)
    return 100

def greedy(job, out):
    memory = bytearray(700 << 20)
    for page in range(0, len(memory), 4096):
        memory[page] = 1
    return 1000

def total(job, numbers, out):
    with open(os.path.join(out, "total"), "w") as f:
        f.write("%d\n" % sum(numbers))

def first(job, options):
    small = dict(memory="300M", disk="10M")
    numbers = [job.addChildJobFn(part, n, options.out, cores=2, **small).rv() for n in (1, 2, 3)]
    numbers.append(job.addChildJobFn(flaky, options.out, cores=1, **small).rv())
    if options.greedy:
        numbers.append(job.addChildJobFn(greedy, options.out, cores=1, memory="400M", disk="10M").rv())
    job.addFollowOnJobFn(total, numbers, options.out, cores=1, **small)

if __name__ == "__main__":
    parser = Job.Runner.getDefaultArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--greedy", action="store_true")
    options = parser.parse_args()
    with Toil(options) as toil:
        toil.start(Job.wrapJobFn(first, options, cores=1, memory="300M", disk="10M"))
`

// toil runs version 5.9 of Debian with two workflows at the same time: sbatch with a wrapped command and --export for each
// job, sacct for the outcome, and scontrol for the interval of its queries. The second workflow has no accounting, so
// Toil parses the output of scontrol for one job and for all jobs.
func (p *program) toil() {
	if exec.Command("/usr/bin/python3", "-c", "import toil.batchSystems.slurm").Run() != nil {
		p.t.Skip("SKIPPED: Toil is not installed (Debian: toil)")
	}
	p.write("flow.py", toilWorkflow)
	p.write("sacct", "#!/bin/sh\necho 'Slurm accounting storage is disabled' >&2\nexit 1\n")
	for _, name := range []string{"with", "without"} {
		if err := os.Mkdir(filepath.Join(p.dir, name), 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	// Toil queries once in several seconds unless it has an option for it.
	const options = ` --batchSystem slurm --retryCount 1 --disableCaching --maxLogFileSize 0 --logInfo`
	p.does(`run() { /usr/bin/python3 flow.py file:$PWD/$1/store $PWD/$1 --workDir $PWD/$1` + options + ` "${@:2}" >$1/log 2>&1 || echo "exit code $?" >>$1/log; }
run with --greedy --statePollingWait 1 & PATH=$PWD:$PATH run without --coalesceStatusCalls & wait`)
	for name, c := range map[string]struct {
		total    string
		failures []string
	}{
		"with":    {"1114\n", []string{"Job failed with exit value 253: 'greedy'", "Job failed with exit value 3: 'flaky'"}}, // 253 is 128 and Slurm's 125 for a lack of memory
		"without": {"114\n", []string{"Job failed with exit value 3: 'flaky'"}},
	} {
		p.reads(name+"/total", c.total)
		log, err := os.ReadFile(filepath.Join(p.dir, name, "log"))
		failures := regexp.MustCompile(`Job failed with exit value \d+: '\w+'`).FindAllString(string(log), -1)
		slices.Sort(failures)
		if err != nil || !slices.Equal(failures, c.failures) || !strings.Contains(string(log), "Finished toil run successfully") {
			p.t.Errorf("%s accounting (%v):\n%s", name, err, log)
		}
	}
}

// batchtools runs version 0.9 of Debian with its template for Slurm: arrays, squeue -r with states for the tasks that wait
// and that run, and scancel of a task.
func (p *program) batchtools() {
	p.needsR("batchtools")
	p.write("run.R", `options(batchtools.progress = FALSE, batchtools.verbose = FALSE)
suppressMessages(library(batchtools))
reg <- makeRegistry(file.dir = "registry", conf.file = NA)
reg$cluster.functions <- makeClusterFunctionsSlurm(template = "slurm-simple", fs.latency = 5)
ids <- batchMap(n = 1:6, function(n) {
  if (n == 4) stop("four is too many")
  if (n >= 5) Sys.sleep(300)
  paste(n * n, Sys.getenv("SLURM_ARRAY_TASK_ID"), Sys.getenv("SLURM_CPUS_PER_TASK"))
})
ids$chunk <- c(1, 1, 2, 3, 4, 4) # a chunk of several jobs is an array
submitJobs(ids, resources = list(walltime = 300, ncpus = 2, memory = 256, chunks.as.arrayjobs = TRUE))
batch <- getJobTable(ids)$batch.id
cat("all well:", waitForJobs(1:4, sleep = 0.5, timeout = 100), "\n")
while (nrow(findRunning(5:6)) < 2) Sys.sleep(0.5)
cat("killed:", killJobs(5)$killed, batch[5], "\n")
cat("running:", findRunning()$job.id, "\n")
cat("killed:", killJobs(6)$killed, batch[6], "\n")
cat("results:", paste(reduceResultsList(findDone()), collapse = ", "), "\n")
cat("error:", getErrorMessages()$message, "\n")
cat("expired:", nrow(findExpired()), "\n")
cat("log:", sum(grepl("Job terminated successfully", getLog(1))), "\n")
`)
	out := p.does("Rscript run.R")
	killed := regexp.MustCompile(`killed: TRUE (\d+_)([12]) \n`).FindAllStringSubmatch(out, -1)
	if len(killed) != 2 || killed[0][1] != killed[1][1] {
		p.t.Fatalf("batchtools prints\n%s", out)
	}
	want := "all well: FALSE \nkilled: TRUE " + killed[0][1] + "1 \nrunning: 6 \nkilled: TRUE " + killed[0][1] + "2 \n" +
		"results: 1 1 2, 4 2 2, 9 1 2 \nerror: Error in (function (n)  : four is too many \nexpired: 0 \nlog: 1 \n"
	if out != want {
		p.t.Errorf("batchtools prints\n%s\nwant\n%s", out, want)
	}
	for _, task := range killed {
		p.polls("sacct -X -n -P -o State -j "+task[1]+task[2], func(answer string) bool { return answer == "CANCELLED by root" })
	}
}

// rslurm runs version 0.6 of Debian: an array of scripts, the default table of squeue, sbatch --wait with a singleton job to
// wait for the array, and scancel with the name of a job.
func (p *program) rslurm() {
	p.needsR("rslurm")
	p.write("run.R", `suppressMessages(library(rslurm))
add <- function(a, b) {
  Sys.sleep(2)
  c(sum = a + b, task = as.integer(Sys.getenv("SLURM_ARRAY_TASK_ID")))
}
job <- slurm_apply(add, data.frame(a = 1:4, b = c(10, 20, 30, 40)), jobname = "apply", nodes = 2, cpus_per_node = 2, slurm_options = list(time = "5", mem = "512M"))
cat("completed:", get_job_status(job)$completed, "\n")
print(get_slurm_out(job, outtype = "table"))
cat("completed:", get_job_status(job)$completed, "\n")
one <- slurm_call(Sys.sleep, list(time = 300), jobname = "one")
while (!("R" %in% get_job_status(one)$queue$ST)) Sys.sleep(0.5)
cancel_slurm(one)
while (!get_job_status(one)$completed) Sys.sleep(0.5)
`)
	out := p.does("Rscript run.R")
	text := regexp.MustCompile(`(?m)^Submitted batch job \d+\n`).ReplaceAllString(out, "")
	if want := "completed: FALSE \n  sum task\n1  11    0\n2  22    0\n3  33    1\n4  44    1\ncompleted: TRUE \n"; text != want {
		p.t.Errorf("rslurm prints\n%s\nwant\n%s", text, want)
	}
	states := sortedLines(p.does("sacct -X -n -P -o JobName,State --name apply,one"))
	if want := []string{"apply|COMPLETED", "apply|COMPLETED", "apply|COMPLETED", "one|CANCELLED by root"}; !slices.Equal(states, want) {
		p.t.Errorf("sacct prints %v, want the two tasks, the job that waits for them, and the cancelled job", states)
	}
}

// needsR skips the test if R or one of its packages is not installed.
func (p *program) needsR(library string) {
	p.t.Helper()
	if exec.Command("Rscript", "-e", "library("+library+")").Run() != nil {
		p.t.Skip("SKIPPED: the package " + library + " of R is not installed (Debian: r-cran-" + library + ")")
	}
}
