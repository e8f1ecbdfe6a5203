package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/bench/figures"
)

// TestSubmitArray measures how long a user waits for the number of an array of 10,000 elements, with a real API server
// and a vcd that admits, runs and schedules it: from the start of a new sbatch process to its end. Processor time
// includes all three, with the work of vcd on the array in the meantime. For wall-clock time, the fastest round must
// meet the limit, because of other load on the machine.
func TestSubmitArray(t *testing.T) {
	skipUnlessAsked(t)
	program := filepath.Join(t.TempDir(), "vcctl")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/vc-batch/vc/cmd/vcctl").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	r := startRig(t, 10)
	makeNamespace(t, r.core, "volcano-system")
	makeNamespace(t, r.core, "default")
	profile := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slurm-profile", Namespace: "volcano-system"}, Data: map[string]string{"profile.yaml": "defaultImage: base:1\n"}}
	if err := r.ours.Create(t.Context(), profile); err != nil {
		t.Fatal(err)
	}
	daemon := r.startVCD(t, "all", "--webhook-listen-address", "127.0.0.1:0")

	const submissions = 7
	number := regexp.MustCompile(`^Submitted batch job (\d+)\n$`)
	numbers := map[string]bool{}
	var took, used []float64
	for round := range submissions {
		cmd := exec.Command(program, "slurm", "sbatch", "--array=0-9999%100", "-o", "/dev/null", "--wrap=true")
		cmd.Env = append(os.Environ(), "KUBECONFIG="+r.path, "HOME="+t.TempDir())
		var problems bytes.Buffer
		cmd.Stderr = &problems
		quiet(t, daemon)
		before, began := cpuOf(t, daemon), time.Now()
		out, err := cmd.Output()
		wall, processor := time.Since(began), cpuOf(t, daemon)-before
		found := number.FindSubmatch(out)
		if err != nil || found == nil {
			t.Fatalf("sbatch: %v: %s%s", err, out, &problems)
		}
		numbers[string(found[1])] = true
		own := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		t.Logf("round %d: %s, processor time of sbatch %s, of API server and vcd %s", round, short(wall), short(own), short(processor))
		took, used = append(took, wall.Seconds()), append(used, (own+processor).Seconds())
	}
	if len(numbers) != submissions {
		t.Errorf("%d submissions have the numbers %v", submissions, numbers)
	}
	jobs := &batchv1alpha1.JobList{}
	if err := r.ours.List(t.Context(), jobs, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	for i := range jobs.Items {
		if replicas := jobs.Items[i].Spec.Tasks[0].Replicas; replicas != largeJob {
			t.Errorf("job %s has %d elements", jobs.Items[i].Name, replicas)
		}
	}
	if len(jobs.Items) != submissions {
		t.Errorf("there are %d jobs", len(jobs.Items))
	}
	if fastest := slices.Min(took); fastest > 1 {
		t.Errorf("the fastest of %d submissions took %.2f s", submissions, fastest)
	}
	take(t, figures.SubmitArray, 0, took...)
	take(t, figures.SubmitArray+figures.InProcessorTime, 0, used...)
}
