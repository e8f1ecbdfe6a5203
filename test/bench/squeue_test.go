package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/submission"
	"github.com/vc-batch/vc/test/bench/figures"
)

var queued = flag.Int("squeue-jobs", 10_000, "how many jobs wait in TestSqueue")

// TestSqueue measures how long a user waits for the list of 10,000 pending jobs, and for one of them, with a real API
// server: from the start of a new squeue process to its end. Processor time includes squeue, the API server and vcd,
// which caches the jobs. The same is measured for sacct, and for scancel with a filter that matches no job.
func TestSqueue(t *testing.T) {
	skipUnlessAsked(t)
	program := filepath.Join(t.TempDir(), "vcctl")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/vc-batch/vc/cmd/vcctl").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	r := startRig(t, 1)
	makeNamespace(t, r.core, "default")
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: keys.DefaultQueue}, Spec: schedulingv1beta1.QueueSpec{Weight: 1}}
	if err := r.ours.Create(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	makeNamespace(t, r.core, "volcano-system")
	daemon := r.startVCD(t, "controllers", "--controllers", "queue-controller", "--lists-address", "127.0.0.1:0")
	inParallel(t, *queued, r.createWaiting)
	atRest(t, daemon)
	for _, c := range []struct {
		line string
		args []string
		rows int
	}{
		{figures.SqueueAll, []string{"slurm", "squeue", "-h"}, *queued},
		{figures.SqueueOne, []string{"slurm", "squeue", "-h", "-j", "1"}, 1},
		{figures.SqueueGone, []string{"slurm", "squeue", "-h", "-j", "999999", "-t", "all", "-n", "prepare"}, 0},
		{figures.SacctAll, []string{"slurm", "sacct", "-a", "-n"}, *queued},
		{figures.ScancelNone, []string{"slurm", "scancel", "-u", "nobody"}, 0},
	} {
		var took, used []float64
		for range 5 {
			cmd := exec.Command(program, c.args...)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+r.path, "HOME="+t.TempDir())
			var out bytes.Buffer
			cmd.Stdout = &out
			before, began := cpuOf(t, daemon), time.Now()
			err := cmd.Run()
			wall, servers := time.Since(began), cpuOf(t, daemon)-before
			if rows := bytes.Count(out.Bytes(), []byte("\n")); rows != c.rows || err != nil && c.rows > 0 {
				t.Fatalf("vcctl %v: %v, %d rows, want %d", c.args, err, rows, c.rows)
			}
			own := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			t.Logf("vcctl %v: %s, processor time of its own %s, of API server and vcd %s", c.args, short(wall), short(own), short(servers))
			took, used = append(took, wall.Seconds()), append(used, (own+servers).Seconds())
		}
		take(t, c.line, 0, took...)
		take(t, c.line+figures.InProcessorTime, 0, used...)
	}
}

// atRest waits until the API server and vcd have been idle for a while, so that work on new jobs does not count.
func atRest(t *testing.T, daemon *vcd) {
	t.Helper()
	const look, quiet = 500 * time.Millisecond, 25 * time.Millisecond
	last := cpuOf(t, daemon)
	for deadline := time.After(time.Minute); ; {
		select {
		case <-deadline:
			t.Fatal("API server and vcd do not come to rest within a minute")
		case <-time.After(look):
		}
		now := cpuOf(t, daemon)
		if now-last <= quiet {
			return
		}
		last = now
	}
}

// createWaiting creates the i-th job as sbatch does, with the status that the scheduler writes.
func (r *rig) createWaiting(ctx context.Context, i int) error {
	job := newJob("default", fmt.Sprintf("prepare-%05d", i), 1, nil)
	batchv1alpha1.SetJobID(job, int64(1+i))
	job.Annotations = map[string]string{keys.User: "mei", keys.JobTitle: "prepare"}
	job.Spec.Tasks[0].Name = "head"
	submission.StoreOptions(job, submission.Options{WorkDir: "/home/mei/project", Command: "/home/mei/project/prepare.sh", StdOut: "/home/mei/project/slurm-%j.out", SubmitLine: "sbatch --mem=4G -c 4 prepare.sh", Requeue: true})
	if err := r.ours.Create(ctx, job); err != nil {
		return err
	}
	_, group := listed(1)
	group.Name, group.UID = job.Name+"-"+string(job.UID), ""
	group.OwnerReferences[0].Name, group.OwnerReferences[0].UID = job.Name, job.UID
	group.Status.Phase = schedulingv1beta1.PodGroupPending
	return r.ours.Create(ctx, group)
}
