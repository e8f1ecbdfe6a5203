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
	"github.com/vc-batch/vc/internal/slurm/asked"
	"github.com/vc-batch/vc/test/bench/figures"
)

var queued = flag.Int("squeue-jobs", 10_000, "how many jobs wait in TestSqueue")

// TestSqueue: how long a person waits for the list of 10,000 jobs that wait, and for one of them, with a real API server: from the call of squeue, a fresh
// process, to its end. The processor time is that of squeue, of the API server and of vcd, which has the jobs in memory. The same of sacct, and of scancel, which
// looks for jobs as long as it finds none.
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

// atRest returns when API server and vcd have had no work for a while: what they still do about jobs that were just made is no part of a list.
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

// createWaiting makes the i-th job as sbatch makes it, and what the scheduler says of it.
func (r *rig) createWaiting(ctx context.Context, i int) error {
	job := newJob("default", fmt.Sprintf("prepare-%05d", i), 1, nil)
	batchv1alpha1.SetJobID(job, int64(1+i))
	job.Annotations = map[string]string{keys.User: "mei", keys.JobTitle: "prepare"}
	job.Spec.Tasks[0].Name = "head"
	asked.Write(job, asked.Options{WorkDir: "/home/mei/project", Command: "/home/mei/project/prepare.sh", StdOut: "/home/mei/project/slurm-%j.out", SubmitLine: "sbatch --mem=4G -c 4 prepare.sh", Requeue: true})
	if err := r.ours.Create(ctx, job); err != nil {
		return err
	}
	_, group := listed(1)
	group.Name, group.UID = job.Name+"-"+string(job.UID), ""
	group.OwnerReferences[0].Name, group.OwnerReferences[0].UID = job.Name, job.UID
	group.Status.Phase = schedulingv1beta1.PodGroupPending
	return r.ours.Create(ctx, group)
}
