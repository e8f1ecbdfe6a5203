package listing_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// The tests in this file query jobs as programs do, and parse the output by the rules of these programs. The rules are
// written in our own words after the published source of each program, whose file is named. Toil itself
// runs in test/e2e, if it is installed. The tests here cover states that this run does not: deleted, waiting, cancelled, and
// over the time limit. The test machine cannot reach the other programs, which are in PyPI or on their own sites.

// runQuery runs a query of a program against the cluster of jobs, and returns its standard output.
func runQuery(t *testing.T, argv ...string) string {
	t.Helper()
	got := runOnJobs(t, argv...)
	if got.Code != 0 || got.Err != "" {
		t.Fatalf("%v: exit %d: %s%s", argv, got.Code, got.Out, got.Err)
	}
	return got.Out
}

func runOnJobs(t *testing.T, argv ...string) golden.Result {
	t.Helper()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddAccounting(server)
	run := slurmtest.NewRun("", argv...)
	run.Prepare(server)
	run.Env = map[string]string{"PATH": "/bin", "LANG": "C", "USER": "mei"}
	return run.RunAgainst(t, server)
}

// exitStatus returns the exit code that a shell would have for a pair such as 3:0 or 0:15.
func exitStatus(t *testing.T, pair string) int {
	t.Helper()
	code, signal, isPair := strings.Cut(pair, ":")
	status, err := strconv.Atoi(code)
	number, signalErr := strconv.Atoi(signal)
	if !isPair || err != nil || signalErr != nil {
		t.Fatalf("exit code %q is not a pair of numbers", pair)
	}
	if number > 0 {
		return 128 + number
	}
	return status
}

// longStates are the states that programs know, by their long names.
var longStates = []string{
	"BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD",
	"RESIZING", "RESV_DEL_HOLD", "REVOKED", "RUNNING", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "SUSPENDED", "TIMEOUT",
}

// outcome is the state and the exit status of a job in the view of a program.
type outcome struct {
	state  string
	status int
}

// wantOutcomes are those of jobs 31 (deleted), 36, 37, 41, 58, 59 and 60 in sacct. It reports the exit code 0:0 for a job that
// was cancelled or reached its time limit, because its batch script did not end by itself.
var wantOutcomes = map[string]outcome{
	"31": {"COMPLETED", 0}, "36": {"RUNNING", 0}, "37": {"PENDING", 0}, "41": {"COMPLETED", 0}, "58": {"FAILED", 3}, "59": {"CANCELLED", 0}, "60": {"TIMEOUT", 0},
}

// TestToilFindsTheOutcomeOfJobs follows toil/batchSystems/slurm.py. Toil queries sacct for a list of jobs, ignores steps, and
// takes the first word of the state, which must be a state that it knows.
func TestToilFindsTheOutcomeOfJobs(t *testing.T) {
	t.Parallel()
	got := map[string]outcome{}
	for line := range strings.Lines(runQuery(t, "sacct", "-n", "-j", "31,36,37,41,58,59,60", "--format", "JobIDRaw,State,ExitCode", "-P", "-S", "1970-01-01")) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 3 {
			t.Fatalf("%q does not have three columns", line)
		}
		if _, err := strconv.Atoi(fields[0]); err != nil {
			continue // a step
		}
		state, _, _ := strings.Cut(fields[1], " ")
		got[fields[0]] = outcome{knownState(t, state), exitStatus(t, fields[2])}
	}
	compareOutcomes(t, got, wantOutcomes)
}

// TestToilFindsTheOutcomeOfJobsWithoutAccounting follows the same file for clusters without sacct. Toil splits the output of
// scontrol at empty lines, and each record into keys and values. A word without = continues the value before it.
func TestToilFindsTheOutcomeOfJobsWithoutAccounting(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"scontrol", "show", "job"}, {"scontrol", "show", "job", "59"}} {
		got := map[string]outcome{}
		for record := range strings.SplitSeq(strings.TrimSpace(runQuery(t, words...)), "\n\n") {
			values, first := map[string]string{}, ""
			key := ""
			for _, word := range strings.Fields(record) {
				name, value, isPair := strings.Cut(word, "=")
				if !isPair {
					values[key] += " " + word
					continue
				}
				if key = name; first == "" {
					first = name
				}
				values[name] = value
			}
			state, _, _ := strings.Cut(values["JobState"], " ")
			got[values[first]] = outcome{knownState(t, state), exitStatus(t, values["ExitCode"])}
		}
		want := map[string]outcome{"59": {"CANCELLED", 128 + 15}} // scontrol reports the signal
		if len(words) == 3 {
			want["36"], want["37"], want["58"], want["60"] = wantOutcomes["36"], wantOutcomes["37"], wantOutcomes["58"], wantOutcomes["60"]
		}
		compareOutcomes(t, got, want)
	}
}

// TestToilFindsRunTimes follows the same file: it splits each line of squeue at spaces, and the run time at - and :.
func TestToilFindsRunTimes(t *testing.T) {
	t.Parallel()
	running := map[string]time.Duration{}
	for line := range strings.Lines(runQuery(t, "squeue", "-h", "--format", "%i %t %M")) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			t.Fatalf("%q does not have three columns", line)
		}
		if fields[1] == "R" {
			running[fields[0]] = parseClock(t, fields[2])
		}
	}
	if running["36"] != time.Hour {
		t.Errorf("run times %v, want 1h for job 36", running)
	}
}

// TestReframeFindsTheOutcomeOfJobs follows reframe/core/schedulers/slurm.py. ReFrame finds lines of jobs and of array tasks
// by a regular expression. It parses the end of jobs that have one.
func TestReframeFindsTheOutcomeOfJobs(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^(\d+)(?:_\d+|_\[\S+\])?\|(\S+)([^|]*)\|(\d+):(\d+)\|(\S+)\|(.*)$`)
	got := map[string]outcome{}
	ends, nodes := map[string]string{}, map[string]string{}
	for _, match := range line.FindAllStringSubmatch(runQuery(t, "sacct", "-S", "2026-02-28", "-P", "-j", "31,36,37,41,58,59,60", "-o", "jobid,state,exitcode,end,nodelist"), -1) {
		got[match[1]] = outcome{knownState(t, match[2]), exitStatus(t, match[4]+":"+match[5])}
		if _, err := time.Parse("2006-01-02T15:04:05", match[6]); err == nil {
			ends[match[1]] = match[6]
		}
		nodes[match[1]] = match[7]
	}
	compareOutcomes(t, got, wantOutcomes)
	if ends["41"] != "2026-03-01T11:15:00" || ends["36"] != "" {
		t.Errorf("ends %v, want one for job 41 and none for job 36, which runs", ends)
	}
	if nodes["36"] != "r05n[07-09,11]" || nodes["41"] != "r05n07" {
		t.Errorf("nodes %v", nodes)
	}
}

// TestReframeFindsWaitingReasons follows ReFrame's class for clusters without accounting, in the file of the test
// above.
func TestReframeFindsWaitingReasons(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^(\d+)\|(\S+)\|(\S*)\|(.+)$`)
	got := map[string]string{}
	for _, match := range line.FindAllStringSubmatch(runQuery(t, "squeue", "-h", "-j", "36,37", "-o", "%i|%T|%N|%r"), -1) {
		got[match[1]] = knownState(t, match[2]) + " " + match[3] + " " + match[4]
	}
	if got["36"] != "RUNNING r05n[07-09,11] None" || got["37"] != "PENDING  Resources" {
		t.Errorf("got %v", got)
	}
}

// TestParslFindsTheStateOfJobs follows parsl/providers/slurm/slurm.py: the first two words of each line are the number and
// the state, which sacct cuts to ten characters and marks with +.
func TestParslFindsTheStateOfJobs(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for line := range strings.Lines(runQuery(t, "sacct", "-X", "--noheader", "--format=jobid,state", "--job", "36,37,41,58,59,60")) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			t.Fatalf("%q does not have two words", line)
		}
		got[fields[0]] = fields[1]
	}
	for id, want := range map[string]string{"36": "RUNNING", "37": "PENDING", "41": "COMPLETED", "58": "FAILED", "59": "CANCELLED+", "60": "TIMEOUT"} {
		if got[id] != want {
			t.Errorf("job %s is %s, want %s", id, got[id], want)
		}
	}
	for line := range strings.Lines(runQuery(t, "squeue", "--noheader", "--format=%i %t", "--job", "36,37")) {
		if !slices.Contains([]string{"36 R\n", "37 PD\n"}, line) {
			t.Errorf("squeue prints %q", line)
		}
	}
}

// TestNextflowKnowsTheStateOfJobs follows SlurmExecutor and AbstractGridExecutor of Nextflow: each line has two words, of
// which the second is a state that Nextflow knows.
func TestNextflowKnowsTheStateOfJobs(t *testing.T) {
	t.Parallel()
	known := strings.Fields("PD R CA CF CG CD F TO NF PR S SE BF DL OOM RV")
	got := map[string]string{}
	for line := range strings.Lines(runQuery(t, "squeue", "--noheader", "-o", "%i %t", "-t", "all")) {
		fields := strings.Fields(line)
		if len(fields) != 2 || !slices.Contains(known, fields[1]) {
			t.Fatalf("%q does not have a number and a state that Nextflow knows", line)
		}
		got[fields[0]] = fields[1]
	}
	for id, want := range map[string]string{"36": "R", "37": "PD", "38": "PD", "42_3": "R", "61": "S"} {
		if got[id] != want {
			t.Errorf("job %s is %s, want %s", id, got[id], want)
		}
	}
}

// TestCromwellKnowsWhichJobsAreAlive follows the example for Slurm in Cromwell's documentation of backends, where check-alive
// is squeue with a job. The job is alive if squeue exits with 0.
func TestCromwellKnowsWhichJobsAreAlive(t *testing.T) {
	t.Parallel()
	if got := runOnJobs(t, "squeue", "-j", "36"); got.Code != 0 {
		t.Errorf("a running job: exit %d: %s", got.Code, got.Err)
	}
	if got := runOnJobs(t, "squeue", "-j", "4711"); got.Code == 0 {
		t.Errorf("a job that does not exist: exit 0: %s", got.Out)
	}
}

// aiidaFields are the columns in which AiiDA queries squeue.
var aiidaFields = []string{"%i", "%t", "%r", "%B", "%u", "%D", "%C", "%R", "%P", "%l", "%M", "%S", "%j", "%V"}

// TestAiidaFindsJobs follows aiida/schedulers/plugins/slurm.py. AiiDA splits each line at ^^^, and parses the limit, the run
// time, and the times of submission and start. It repeats a single job, because Slurm reports an error for one unknown job.
func TestAiidaFindsJobs(t *testing.T) {
	t.Parallel()
	jobs := map[string][]string{}
	for line := range strings.Lines(runQuery(t, "squeue", "--noheader", "-o", strings.Join(aiidaFields, "^^^"), "-umei")) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "^^^")
		if len(fields) != len(aiidaFields) {
			t.Fatalf("%q has %d columns, want %d", line, len(fields), len(aiidaFields))
		}
		jobs[fields[0]] = fields
		if fields[9] != "UNLIMITED" {
			parseClock(t, fields[9])
		}
		parseClock(t, fields[10])
		if _, err := time.Parse("2006-01-02T15:04:05", fields[13]); err != nil {
			t.Errorf("submission: %v", err)
		}
		if _, err := time.Parse("2006-01-02T15:04:05", fields[11]); fields[1] == "R" && err != nil {
			t.Errorf("start: %v", err)
		}
	}
	if got := strings.Join(jobs["36"], " "); got != "36 R None r05n07 mei 4 128 r05n[07-09,11] research 4:00:00 1:00:00 2026-03-01T11:00:00 train.sh 2026-03-01T10:00:00" {
		t.Errorf("job 36: %s", got)
	}
	if out := runQuery(t, "squeue", "--noheader", "-o", "%i", "--jobs=37,37"); out != "37\n" {
		t.Errorf("a job that is named twice: %q", out)
	}
}

// TestAiidaFindsTheDetailsOfJobs follows the same file. AiiDA expects a header and then the line of the job, both with one
// more | than columns.
func TestAiidaFindsTheDetailsOfJobs(t *testing.T) {
	t.Parallel()
	columns := strings.Split("AllocCPUS,Account,AssocID,AveCPU,AvePages,AveRSS,AveVMSize,Cluster,Comment,CPUTime,CPUTimeRAW,DerivedExitCode,Elapsed,Eligible,End,ExitCode,GID,Group,JobID,JobName,MaxRSS,MaxRSSNode,MaxRSSTask,"+
		"MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,MinCPU,MinCPUNode,MinCPUTask,NCPUS,NNodes,NodeList,NTasks,Priority,Partition,QOSRAW,ReqCPUS,Reserved,Start,State,Submit,Suspended,SystemCPU,Timelimit,TotalCPU,UID,User,UserCPU", ",")
	lines := strings.Split(runQuery(t, "sacct", "--format="+strings.Join(columns, ","), "--parsable", "--jobs=60"), "\n")
	fields := strings.Split(lines[1], "|")
	if len(strings.Split(lines[0], "|")) != len(columns)+1 || len(fields) != len(columns)+1 {
		t.Fatalf("want %d columns and | after each:\n%s\n%s", len(columns), lines[0], lines[1])
	}
	if state := fields[slices.Index(columns, "State")]; state != "TIMEOUT" {
		t.Errorf("state %q, want TIMEOUT", state)
	}
}

// TestSnakemakeReportsEfficiency follows efficiency_report.py of Snakemake's executor plugin for Slurm. It reads a table
// without a header, and parses run times, CPU times, and memory with a unit.
func TestSnakemakeReportsEfficiency(t *testing.T) {
	t.Parallel()
	memory := regexp.MustCompile(`^\d+(?:\.\d+)?[KMGT]$`)
	jobs := 0
	for line := range strings.Lines(runQuery(t, "sacct", "--name=prepare", "--parsable2", "--noheader", "--format=JobID,JobName,Comment,Elapsed,TotalCPU,NNodes,NCPUS,MaxRSS,ReqMem")) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(fields) != 9 {
			t.Fatalf("%q does not have nine columns", line)
		}
		parseClock(t, fields[3])
		parseClock(t, fields[4])
		if isJob := !strings.Contains(fields[0], "."); isJob {
			jobs++
			if !memory.MatchString(fields[8]) {
				t.Errorf("requested memory %q", fields[8])
			}
		}
		if fields[7] != "" && !memory.MatchString(fields[7]) {
			t.Errorf("used memory %q", fields[7])
		}
	}
	if jobs != 1 {
		t.Errorf("%d jobs, want 1", jobs)
	}
}

// parseClock parses [D-][HH:]MM:SS[.mmm].
func parseClock(t *testing.T, text string) time.Duration {
	t.Helper()
	match := regexp.MustCompile(`^(?:(\d+)-)?(?:(\d{1,2}):)?(\d{1,2}):(\d{1,2})(?:\.\d+)?$`).FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("%q is not [D-][HH:]MM:SS", text)
	}
	var total time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi(match[i+1])
		total += time.Duration(n) * unit
	}
	return total
}

func knownState(t *testing.T, state string) string {
	t.Helper()
	if !slices.Contains(longStates, state) {
		t.Fatalf("no program knows state %q", state)
	}
	return state
}

func compareOutcomes(t *testing.T, got, want map[string]outcome) {
	t.Helper()
	for id, w := range want {
		if got[id] != w {
			t.Errorf("job %s is %v, want %v", id, got[id], w)
		}
	}
}

// number is a number in Slurm's JSON.
type number struct {
	Set, Infinite bool
	Number        int64
}

// exitCode is an exit code in Slurm's JSON.
type exitCode struct {
	Status []string
	Return number `json:"return_code"`
	Signal struct {
		ID   number
		Name string
	}
}

// resource is a trackable resource in Slurm's JSON.
type resource struct {
	Type, Name string
	Count      int64
}

// TestSacctPrintsTheJSONOfSlurm decodes `sacct --json` into the types of dbv0.0.40_job in Slurm's OpenAPI documents (release
// 24.05), which the fields of pyslurm.db.Job are named after. A field of another type is an error.
func TestSacctPrintsTheJSONOfSlurm(t *testing.T) {
	t.Parallel()
	var got struct {
		Jobs []struct {
			Account         string
			AllocationNodes int `json:"allocation_nodes"`
			Array           struct {
				JobID  int64  `json:"job_id"`
				TaskID number `json:"task_id"`
				Task   string
				Limits struct {
					Max struct {
						Running struct{ Tasks int64 }
					}
				}
			}
			Association struct{ Account, Cluster, Partition, User string }
			Cluster     string
			Comment     struct{ Administrator, Job, System string }
			Constraints string
			Derived     exitCode `json:"derived_exit_code"`
			Exit        exitCode `json:"exit_code"`
			Group       string
			JobID       int64  `json:"job_id"`
			KillUser    string `json:"kill_request_user"`
			Name        string
			Nodes       string
			Partition   string
			Priority    number
			QOS         string
			Required    struct {
				CPUs          int
				MemoryPerCPU  number `json:"memory_per_cpu"`
				MemoryPerNode number `json:"memory_per_node"`
			}
			RestartCount int `json:"restart_cnt"`
			State        struct {
				Current []string
				Reason  string
			}
			Steps []struct {
				Exit  exitCode `json:"exit_code"`
				Nodes struct {
					Count int
					Range string
					List  []string
				}
				State []string
				Step  struct{ ID, Name string }
				Tasks struct{ Count int }
				Time  struct {
					Elapsed    int64
					Start, End number
					Total      struct{ Seconds, Microseconds int64 }
				}
				TRES struct{ Allocated []resource }
			}
			SubmitLine string `json:"submit_line"`
			Time       struct {
				Elapsed, Eligible, End, Start, Submission, Suspended int64
				Limit, Planned                                       number
				Total                                                struct{ Seconds, Microseconds int64 }
			}
			TRES             struct{ Allocated, Requested []resource }
			User             string
			WCKey            struct{ WCKey string }
			WorkingDirectory string `json:"working_directory"`
		}
	}
	text := runQuery(t, "sacct", "--json", "-j", "36,41,58,59,42_1")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Jobs) != 5 {
		t.Fatalf("%d jobs, want 5:\n%s", len(got.Jobs), text)
	}
	train, prepare, task, broken, stopped := got.Jobs[0], got.Jobs[1], got.Jobs[2], got.Jobs[3], got.Jobs[4]
	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	check("the number of nodes", train.AllocationNodes, 4)
	check("the number of CPUs", train.Required.CPUs, 128)
	check("the memory of a node", train.Required.MemoryPerNode, number{Set: true, Number: 200 << 10})
	check("the time limit in minutes", train.Time.Limit, number{Set: true, Number: 240})
	check("the submission line", train.SubmitLine, "sbatch train.sh")
	check("the working directory", train.WorkingDirectory, "/home/mei")
	check("the GPUs", slices.Contains(train.TRES.Allocated, resource{"gres", "gpu", 32}), true)
	check("the allocated memory", slices.Contains(train.TRES.Allocated, resource{"mem", "", 800 << 10}), true)
	check("the account of the association", train.Association.Account, "nlp-a")
	check("the state", train.State.Current[0], "RUNNING")
	check("the end of a running job", train.Time.End, int64(0))
	check("an absent time limit", prepare.Time.Limit, number{Infinite: true})
	check("the exit code of a failed job", broken.Exit.Return, number{Set: true, Number: 3})
	check("the word for it", broken.Exit.Status[0], "ERROR")
	check("the word for success", prepare.Exit.Status[0], "SUCCESS")
	check("the user who cancelled a job", stopped.KillUser, "mei")
	check("the signal of a step", stopped.Steps[2].Exit.Signal.ID, number{Set: true, Number: 15})
	check("the word for a signal", stopped.Steps[2].Exit.Status[0], "SIGNALED")
	check("the name of the signal", stopped.Steps[2].Exit.Signal.Name, "TERM")
	check("the array", task.Array.JobID, int64(42))
	check("the task of the array", task.Array.TaskID, number{Set: true, Number: 1})
	check("the limit of the array", task.Array.Limits.Max.Running.Tasks, int64(4))
	check("the CPU time of a step", prepare.Steps[2].Time.Total.Seconds, int64(90))
	check("the name of a step", prepare.Steps[2].Step.Name, "python")
	check("the number of a step", prepare.Steps[2].Step.ID, "41.1")
	check("the tasks of a step", prepare.Steps[2].Tasks.Count, 2)
	check("the node of a step", strings.Join(prepare.Steps[2].Nodes.List, ","), "r05n07")
}
