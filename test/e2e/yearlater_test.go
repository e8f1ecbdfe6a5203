package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/extract"
	"github.com/vc-batch/vc/internal/accounting/store"
)

// age is how long ago the jobs of the test seem to have run: 52 weeks.
const age = 52 * 7 * 24 * time.Hour

const sacctColumns = "jobid,jobidraw,jobname,partition,account,user,qos,state,exitcode,derivedexitcode,submit,eligible,start,end," +
	"elapsed,suspended,planned,timelimit,nnodes,ncpus,reqmem,alloctres,nodelist,reason,restarts,totalcpu,maxrss"

// attemptColumns are the columns of sacct that are known for each attempt of a job.
const attemptColumns = "jobid,jobname,state,exitcode,start,end,elapsed,nodelist"

// TestTheHistoryIsTheSameAYearLater runs jobs that succeed, fail, restart, are requeued, suspended or preempted, or are
// arrays. It deletes all of them, stops the cluster, makes all stored records a year older, and starts the cluster again. This is what
// a cluster shows whose clock moved forward by a year.
func TestTheHistoryIsTheSameAYearLater(t *testing.T) {
	c := startRestartableCluster(t)
	busy := runJobsOfAllKinds(c)
	cpuSeconds, memoryMiB := readUse(c)
	before := c.vcctl("slurm", "sacct", "-n", "-P", "-o", sacctColumns)
	attempts := c.vcctl("slurm", "sacct", "-X", "-D", "-n", "-P", "-o", attemptColumns)
	efficiency := c.vcctl("slurm", "seff", busy)

	c.vcctl("job", "delete", "--all", "--yes")
	if deleted := c.vcctl("slurm", "sacct", "-n", "-P", "-o", sacctColumns); deleted != before {
		t.Errorf("sacct after the deletion (-before +after):\n%s", cmp.Diff(before, deleted))
	}
	c.stop()
	makeRecordsOlder(t, filepath.Join(c.dir, "accounting", "records"))
	c.start()

	if today := c.vcctl("slurm", "sacct", "-n"); today != "" {
		t.Errorf("jobs of today:\n%s", today)
	}
	since := time.Now().Add(-age - 24*time.Hour).Format("2006-01-02")
	want := shiftTimes(t, before, "2006-01-02T15:04:05", time.Local)
	if yearAgo := c.vcctl("slurm", "sacct", "-n", "-P", "-o", sacctColumns, "-S", since); yearAgo != want {
		t.Errorf("sacct a year later (-want +got):\n%s", cmp.Diff(want, yearAgo))
	}
	want = shiftTimes(t, attempts, "2006-01-02T15:04:05", time.Local)
	if yearAgo := c.vcctl("slurm", "sacct", "-X", "-D", "-n", "-P", "-o", attemptColumns, "-S", since); yearAgo != want {
		t.Errorf("sacct -D a year later (-want +got):\n%s", cmp.Diff(want, yearAgo))
	}
	for _, state := range []string{"|FAILED|", "|REQUEUED|", "|PREEMPTED|", "|SUSPENDED|", "|CANCELLED"} {
		if !strings.Contains(attempts, state) {
			t.Errorf("no attempt is %s:\n%s", state, attempts)
		}
	}
	if later := c.vcctl("slurm", "seff", busy); later != efficiency {
		t.Errorf("seff a year later (-want +got):\n%s", cmp.Diff(efficiency, later))
	}
	checkEfficiency(t, efficiency, cpuSeconds, memoryMiB)
}

// startRestartableCluster starts a cluster that can be stopped and started again. The test runs in parallel with others.
func startRestartableCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	dir, err := os.MkdirTemp("", "vc-e2e-cluster-")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	t.Cleanup(func() {
		if t.Failed() {
			c.dump()
		}
		if out, err := exec.Command(filepath.Join(binaries, "vc-local"), "down", "--dir", dir, "--purge").CombinedOutput(); err != nil {
			t.Errorf("vc-local down: %v\n%s", err, out)
		}
		_ = os.RemoveAll(dir)
	})
	c.start()
	return c
}

func (c *cluster) start() {
	c.t.Helper()
	c.must("", "vc-local", "up", "--detach", "--dir", c.dir, "--process-nodes", "1", "--node-cpu", "4", "--node-memory", "4Gi")
	c.connect()
}

func (c *cluster) stop() {
	c.t.Helper()
	c.must("", "vc-local", "down", "--dir", c.dir)
}

// runJobsOfAllKinds runs jobs until all have ended. It returns the number of the job whose use checkEfficiency checks.
func runJobsOfAllKinds(c *cluster) (busy string) {
	c.t.Helper()
	sbatch := func(args ...string) string {
		return strings.TrimSpace(c.vcctl(append([]string{"slurm", "sbatch", "--parsable"}, args...)...))
	}
	busy = sbatch("-J", "busy", "--mem", "1000", "--wrap", "python3 -c '"+busyProgram+"'")
	c.waitForSacct("busy", "COMPLETED", 1)

	sbatch("-J", "good", "--wrap", "true")
	sbatch("-J", "bad", "--wrap", "exit 3")
	sbatch("-J", "sweep", "--array=1-100", "--wrap", "exit $((SLURM_ARRAY_TASK_ID % 2))")
	c.create(restartedManifest)
	c.waitForSacct("again", "FAILED", 1)
	c.waitForSacct("good", "COMPLETED", 1)
	c.waitForSacct("bad", "FAILED", 1)
	c.waitForSacct("sweep", "COMPLETED", 50)
	c.waitForSacct("sweep", "FAILED", 50)

	requeued := sbatch("-J", "requeued", "--requeue", "--wrap", "sleep 1000")
	c.waitForSacct("requeued", "RUNNING", 1)
	c.vcctl("slurm", "scontrol", "requeue", requeued)
	c.eventually(time.Minute, "the requeued job has restarted", func() error {
		if shown := c.vcctl("slurm", "scontrol", "show", "job", requeued); !strings.Contains(shown, "Restarts=1 ") {
			return errors.New(shown)
		}
		return nil
	})
	c.waitForSacct("requeued", "RUNNING", 1)
	c.vcctl("slurm", "scancel", requeued)
	c.waitForSacct("requeued", "CANCELLED", 1)

	suspendJobs(c)

	c.create(lowManifest)
	c.running("low", 1, time.Minute)
	c.create(highManifest)
	c.jobPhase("high", batchv1alpha1.Completed, time.Minute)
	c.running("low", 1, time.Minute)
	c.vcctl("slurm", "scancel", "--name", "low")
	c.waitForSacct("low", "CANCELLED", 1)
	return busy
}

// suspendJobs suspends two jobs. One of them is resumed and completes. The other one is cancelled while it is suspended.
func suspendJobs(c *cluster) {
	c.t.Helper()
	const wrap = `[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || sleep 1000`
	var ids []string
	for _, name := range []string{"resumed", "dropped"} {
		ids = append(ids, strings.TrimSpace(c.vcctl("slurm", "sbatch", "--parsable", "-J", name, "--wrap", wrap)))
		c.waitForSacct(name, "RUNNING", 1)
	}
	c.vcctl("slurm", "scontrol", "suspend", strings.Join(ids, ","))
	ran := map[string]string{}
	for i, name := range []string{"resumed", "dropped"} {
		c.waitForSacct(name, "SUSPENDED", 1)
		c.eventually(time.Minute, "the suspended time of job "+name+" grows, and its run time does not", func() error {
			shown := c.sacctFields(ids[i], "elapsed,suspended,end")
			if ran[name] == "" {
				ran[name] = shown[0]
			}
			if shown[0] != ran[name] || shown[1] < "00:00:03" || shown[2] != "Unknown" {
				return errors.New(strings.Join(shown, " "))
			}
			return nil
		})
		if shown := c.vcctl("slurm", "scontrol", "show", "job", ids[i]); strings.Contains(shown, "SuspendTime=None") {
			c.t.Errorf("scontrol shows no time of the suspension:\n%s", shown)
		}
	}
	c.vcctl("slurm", "scontrol", "resume", ids[0])
	c.waitForSacct("resumed", "COMPLETED", 1)
	c.vcctl("slurm", "scancel", ids[1])
	c.waitForSacct("dropped", "CANCELLED", 1)
	for i, name := range []string{"resumed", "dropped"} {
		if shown := c.sacctFields(ids[i], "elapsed,suspended"); shown[1] < "00:00:03" {
			c.t.Errorf("job %s was suspended for %s", name, shown[1])
		}
	}
	if shown := c.sacctFields(ids[1], "elapsed"); shown[0] != ran["dropped"] {
		c.t.Errorf("the cancelled job ran for %s, want %s", shown[0], ran["dropped"])
	}
}

// sacctFields returns columns of a job that sacct prints.
func (c *cluster) sacctFields(id, columns string) []string {
	c.t.Helper()
	return strings.Split(strings.TrimSpace(c.vcctl("slurm", "sacct", "-X", "-n", "-P", "-j", id, "-o", columns)), "|")
}

// waitForSacct waits until sacct lists n jobs of a name, or n tasks of an array, in a state.
func (c *cluster) waitForSacct(name, state string, n int) {
	c.t.Helper()
	c.eventually(3*time.Minute, fmt.Sprintf("%d jobs %s are %s", n, name, state), func() error {
		if shown := c.vcctl("slurm", "sacct", "-X", "-n", "-o", "state", "--name", name); strings.Count(shown, state) != n {
			return errors.New(shown)
		}
		return nil
	})
}

// busyProgram uses ten seconds of CPU time and 400 MiB of memory.
const busyProgram = `
import resource
block = bytearray(b"x") * (400 << 20)
def used():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime
while used() < 10: sum(range(10000))
print("used", used(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
`

// checkEfficiency compares what seff prints for busyProgram with what the program measured itself.
func checkEfficiency(t *testing.T, seff string, cpuSeconds, memoryMiB float64) {
	t.Helper()
	percent := func(pattern string) (share, of float64) {
		match := regexp.MustCompile(pattern).FindStringSubmatch(seff)
		if match == nil {
			t.Fatalf("seff does not print %s:\n%s", pattern, seff)
		}
		share, _ = strconv.ParseFloat(match[1], 64)
		if parts := strings.Split(match[2], ":"); len(parts) == 3 {
			for _, part := range parts {
				n, _ := strconv.ParseFloat(part, 64)
				of = of*60 + n
			}
			return share / 100, of
		}
		of, _ = strconv.ParseFloat(match[2], 64)
		return share / 100, of
	}
	check := func(what string, share, of, used float64) {
		t.Logf("%s: seff %.2f, the program itself %.2f", what, share*of, used)
		if difference := math.Abs(share*of - used); difference > used/20 {
			t.Errorf("%s differs by more than 5 percent:\n%s", what, seff)
		}
	}
	cpuShare, wall := percent(`CPU Efficiency: ([0-9.]+)% of ([0-9:]+) core-walltime`)
	check("CPU seconds", cpuShare, wall, cpuSeconds)
	memoryShare, requested := percent(`Memory Efficiency: ([0-9.]+)% of ([0-9.]+) MB`)
	check("MiB of memory", memoryShare, requested, memoryMiB)
}

// readUse returns what busyProgram measured itself.
func readUse(c *cluster) (cpuSeconds, memoryMiB float64) {
	c.t.Helper()
	for name := range c.pods("default", nil) {
		if !strings.HasPrefix(name, "busy-") {
			continue
		}
		if _, err := fmt.Sscanf(c.logs("default", name), "used %f %f", &cpuSeconds, &memoryMiB); err != nil {
			c.t.Fatalf("log of %s: %v", name, err)
		}
	}
	return cpuSeconds, memoryMiB
}

// makeRecordsOlder replaces an accounting database by one with the same records, all of whose times are earlier by age.
func makeRecordsOlder(t *testing.T, directory string) {
	t.Helper()
	records := readRecords(t, directory)
	for _, outcome := range []accounting.Outcome{accounting.Completed, accounting.Failed, accounting.Cancelled, accounting.Restarted, accounting.Preempted, accounting.Suspended} {
		if !slices.ContainsFunc(records, func(r accounting.Record) bool { return r.Outcome == outcome }) {
			t.Errorf("no attempt was recorded as %s", outcome)
		}
	}
	if err := os.RemoveAll(directory); err != nil {
		t.Fatal(err)
	}
	to, err := store.Open(context.Background(), "sqlite:"+directory)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	for i := range records {
		r := &records[i]
		for _, at := range []*time.Time{&r.Submitted, &r.Eligible, &r.Started, &r.Ended} {
			if !at.IsZero() {
				*at = at.Add(-age)
			}
		}
		if len(r.Document) > 0 {
			r.Document = makeDocumentOlder(t, r.Document)
		}
	}
	if _, err := to.Add(context.Background(), records); err != nil {
		t.Fatal(err)
	}
}

func readRecords(t *testing.T, directory string) []accounting.Record {
	t.Helper()
	from, err := store.Open(context.Background(), "sqlite:"+directory)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var records []accounting.Record
	for record, err := range from.Records(context.Background(), accounting.Query{WithDocuments: true}) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, *record)
	}
	return records
}

func makeDocumentOlder(t *testing.T, encoded []byte) []byte {
	t.Helper()
	document, err := extract.DecodeDocument(encoded)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var older extract.Document
	if err := json.Unmarshal([]byte(shiftTimes(t, string(text), "2006-01-02T15:04:05Z", time.UTC)), &older); err != nil {
		t.Fatal(err)
	}
	result, err := older.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// shiftTimes makes all times of a layout in a text earlier by age.
func shiftTimes(t *testing.T, text, layout string, zone *time.Location) string {
	t.Helper()
	pattern := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d` + strings.TrimPrefix(layout, "2006-01-02T15:04:05"))
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		at, err := time.ParseInLocation(layout, found, zone)
		if err != nil {
			t.Fatal(err)
		}
		return at.Add(-age).Format(layout)
	})
}

const restartedManifest = `
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: again}
spec:
  maxRetry: 2
  policies: [{event: PodFailed, action: RestartJob}]
  tasks:
  - name: main
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: none, command: [sh, -c, exit 4], resources: {requests: {cpu: 100m}}}]
`

const lowManifest = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: low}
value: 10
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: low}
spec:
  priorityClassName: low
  policies: [{event: PodEvicted, action: RestartJob}]
  tasks:
  - name: main
    replicas: 1
    template:
      metadata: {annotations: {volcano.sh/preemptable: "true"}}
      spec:
        restartPolicy: Never
        priorityClassName: low
        containers: [{name: main, image: none, command: [sleep, "1000"], resources: {requests: {cpu: "3"}}}]
`

const highManifest = `
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: high}
spec:
  priorityClassName: high
  tasks:
  - name: main
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        priorityClassName: high
        containers: [{name: main, image: none, command: [sleep, "1"], resources: {requests: {cpu: "3"}}}]
`
