package e2e

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/test/postgres"
)

var (
	recorderRounds = flag.Int("recorder.rounds", 8, "how often the tests of accounting kill its processes with each database")
	recorderSeed   = flag.Uint64("recorder.seed", 1, "seed of what the jobs do, and of when processes are killed")
)

// TestEveryAttemptIsRecordedOnceAlthoughProcessesAreKilled runs jobs that succeed, fail, restart, are arrays, or are deleted
// while they run. In each round, it kills vcd accounting, and sometimes the database, with SIGKILL. In the end, the records
// are compared with a log that the jobs themselves wrote.
func TestEveryAttemptIsRecordedOnceAlthoughProcessesAreKilled(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		runRecorderKills(t, "sqlite:"+t.TempDir(), func() {})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := postgres.Start(t)
		runRecorderKills(t, server.NewDatabase(t), func() { server.Restart(t) })
	})
}

// recorderKills is a run of the test with one database.
type recorderKills struct {
	*cluster

	random   *rand.Rand
	database string
	spool    string
	log      string // the file to which jobs append a line when they start
	recorder *exec.Cmd
	kills    int
	jobs     []string
	deleted  map[string]bool // jobs that were deleted before they had to end
}

func runRecorderKills(t *testing.T, database string, restartDatabase func()) {
	c := startCluster(t, "--components", "api", "--process-nodes", "1", "--node-cpu", "64")
	c.startVcd("--record-jobs", "--leader-elect=false")
	r := &recorderKills{
		cluster: c, random: rand.New(rand.NewPCG(*recorderSeed, uint64(len(database)))), //nolint:gosec // no secret
		database: database, spool: t.TempDir(), log: newLogOfJobs(t), deleted: map[string]bool{},
	}
	r.waitForFinalizers()
	r.startRecorder()
	for round := range *recorderRounds {
		r.submitJobs(round)
		if r.random.IntN(4) == 0 {
			restartDatabase()
		}
		r.waitBriefly(1500)
		r.killRecorder()
		r.deleteSomeJobs()
		r.waitBriefly(300)
		r.startRecorder()
	}
	r.finishJobs()
	r.checkRecords()
	t.Logf("%d kills, %d jobs, %d starts in the log of the jobs", r.kills, len(r.jobs), len(r.readLog()))
}

// newLogOfJobs returns the path of a file in a directory in which the users of pods may create files.
func newLogOfJobs(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "vc-starts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	if err := os.Chmod(directory, 0o777); err != nil { //nolint:gosec // pods run as other users
		t.Fatal(err)
	}
	return filepath.Join(directory, "starts.log")
}

// waitBriefly lets the jobs and the recorder work for a random time, so that a kill can happen at any point.
func (r *recorderKills) waitBriefly(mostMilliseconds int) {
	<-time.After(time.Duration(r.random.IntN(mostMilliseconds)) * time.Millisecond)
}

func (r *recorderKills) startRecorder() {
	r.t.Helper()
	log, err := os.OpenFile(filepath.Join(r.dir, "log", "recorder.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(binaries, "vcd"), "accounting", "--kubeconfig", r.kubeconfig, "--accounting-store", r.database,
		"--accounting-spool-dir", r.spool, "--leader-elect=false", "--enable-metrics=false", "--enable-healthz=false")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.recorder = cmd
	r.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

// waitForFinalizers waits until admission adds the finalizer of accounting to new jobs. A job without it is lost if it is
// deleted while the recorder is down.
func (r *recorderKills) waitForFinalizers() {
	r.t.Helper()
	r.eventually(time.Minute, "new jobs get the finalizer", func() error {
		probe := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "probe"}}
		probe.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "main", Replicas: 1, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "none:local"}},
		}}}}
		if err := r.Create(context.Background(), probe, client.DryRunAll); err != nil {
			return err
		}
		if !slices.Contains(probe.Finalizers, keys.Recorded) {
			return fmt.Errorf("finalizers %v", probe.Finalizers)
		}
		return nil
	})
}

func (r *recorderKills) killRecorder() {
	_ = r.recorder.Process.Kill()
	_ = r.recorder.Wait()
	r.kills++
}

// submitJobs submits some jobs of random kinds. Each of their pods appends the name of its job to the log when it starts.
func (r *recorderKills) submitJobs(round int) {
	r.t.Helper()
	for i := range 3 {
		name := fmt.Sprintf("r%d-%d", round, i)
		script := fmt.Sprintf("echo %s >> %s; sleep 0.%d; exit ", name, r.log, r.random.IntN(10))
		j := job{name: name, min: 1, tasks: []task{{name: "main", replicas: 1, cpu: "10m"}}}
		switch r.random.IntN(4) {
		case 0:
			j.tasks[0].command = script + "0"
		case 1:
			j.tasks[0].command = script + "3"
		case 2:
			j.tasks[0].command = script + "4"
			j.policies, j.extra = "[{event: PodFailed, action: RestartJob}]", "maxRetry: 2"
		case 3:
			j.tasks[0].command = fmt.Sprintf("echo %s >> %s; sleep 30", name, r.log) // it ends by its deletion
		}
		r.create(r.withLog(j))
		r.jobs = append(r.jobs, name)
	}
}

// withLog returns the manifest of a job whose pods can write the log.
func (r *recorderKills) withLog(j job) string {
	const image, containers = "          image: none:local\n", "        containers:\n"
	directory := filepath.Dir(r.log)
	manifest := strings.ReplaceAll(j.String(), image, fmt.Sprintf("%s          volumeMounts: [{name: log, mountPath: %s}]\n", image, directory))
	return strings.ReplaceAll(manifest, containers, fmt.Sprintf("        volumes: [{name: log, hostPath: {path: %s}}]\n%s", directory, containers))
}

// deleteSomeJobs deletes jobs at random, whatever their state.
func (r *recorderKills) deleteSomeJobs() {
	r.t.Helper()
	for _, name := range r.jobs {
		if r.random.IntN(6) == 0 {
			r.deleted[name] = r.deleted[name] || r.isUnfinished(name)
			r.deleteJob(name)
		}
	}
}

// isUnfinished reports whether a job exists and has not ended.
func (r *recorderKills) isUnfinished(name string) bool {
	r.t.Helper()
	job := &batchv1alpha1.Job{}
	err := r.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, job)
	if client.IgnoreNotFound(err) != nil {
		r.t.Fatal(err)
	}
	return err == nil && jobstatus.IsActivePhase(job.Status.State.Phase)
}

func (r *recorderKills) deleteJob(name string) {
	r.t.Helper()
	doomed := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if err := client.IgnoreNotFound(r.Delete(context.Background(), doomed)); err != nil {
		r.t.Fatal(err)
	}
}

// finishJobs waits until the jobs that end by themselves have ended, deletes all jobs, and stops the recorder when it has
// stored all records.
func (r *recorderKills) finishJobs() {
	r.t.Helper()
	r.eventually(2*time.Minute, "only endless jobs run", func() error {
		var jobs batchv1alpha1.JobList
		if err := r.List(context.Background(), &jobs); err != nil {
			return err
		}
		for i := range jobs.Items {
			isEndless := strings.Contains(strings.Join(jobs.Items[i].Spec.Tasks[0].Template.Spec.Containers[0].Command, " "), "sleep 30")
			if phase := jobs.Items[i].Status.State.Phase; !isEndless && jobstatus.IsActivePhase(phase) {
				return fmt.Errorf("%s is %s", jobs.Items[i].Name, phase)
			}
		}
		return nil
	})
	for _, name := range r.jobs {
		r.deleteJob(name)
	}
	r.eventually(2*time.Minute, "all jobs are recorded and gone", func() error {
		var jobs batchv1alpha1.JobList
		if err := r.List(context.Background(), &jobs); err != nil {
			return err
		}
		if len(jobs.Items) > 0 {
			return fmt.Errorf("%d left, for example %s", len(jobs.Items), jobs.Items[0].Name)
		}
		waiting, err := filepath.Glob(filepath.Join(r.spool, "*"))
		if err != nil || len(waiting) > 0 {
			return fmt.Errorf("%d files in the spool: %w", len(waiting), err)
		}
		return nil
	})
	_ = r.recorder.Process.Signal(syscall.SIGTERM)
	_ = r.recorder.Wait()
}

// readLog returns the names in the log of the jobs.
func (r *recorderKills) readLog() []string {
	r.t.Helper()
	file, err := os.Open(r.log)
	if err != nil {
		r.t.Fatal(err)
	}
	defer file.Close()
	var names []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		names = append(names, lines.Text())
	}
	return names
}

// checkRecords compares the records with the log. Each job has a record for each attempt from the first to the last. As many
// attempts as the log has are recorded. No other attempt is recorded as started, except the last one of a deleted job.
func (r *recorderKills) checkRecords() {
	r.t.Helper()
	database, err := store.Open(context.Background(), r.database)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() {
		if err := database.Close(); err != nil {
			r.t.Error(err)
		}
	}()
	attempts, started, logged := map[string][]int32{}, map[string]int{}, map[string]int{}
	for record, err := range database.Records(context.Background(), accounting.Query{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		attempts[record.Name] = append(attempts[record.Name], record.Attempt)
		if !record.Started.IsZero() {
			started[record.Name]++
		}
	}
	for _, name := range r.readLog() {
		logged[name]++
	}
	for _, name := range r.jobs {
		recorded := attempts[name]
		slices.Sort(recorded)
		for i, attempt := range recorded {
			if attempt != int32(i) {
				r.t.Errorf("%s: attempts %v are recorded", name, recorded)
				break
			}
		}
		mostStarts := logged[name]
		if r.deleted[name] {
			mostStarts++ // the deletion may have killed the container before its first command
		}
		isRecorded := len(recorded) > 0 && logged[name] <= len(recorded)
		if !isRecorded || started[name] > mostStarts {
			r.t.Errorf("%s: %d attempts are recorded, %d of them as started; the job's log has %d", name, len(recorded), started[name], logged[name])
		}
		delete(attempts, name)
	}
	for name := range attempts {
		r.t.Errorf("there are records of %s, which was not submitted", name)
	}
}
