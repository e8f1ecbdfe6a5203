package listing_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// An array of ten thousand elements is one row, even if elements have ended.
func TestAnArrayOfTenThousandIsOneRow(t *testing.T) {
	t.Parallel()
	run := golden.Run{Argv: []string{"slurm", "squeue", "-h", "-o", "%i %t %r"}}
	server := clitest.Start(t, slurmtest.NewJob(42, "sweep", "mei", "default", batchv1alpha1.Running, time.Hour, func(j *batchv1alpha1.Job) {
		j.Annotations[keys.Array], j.Annotations[keys.ArrayLimit] = "0-9999", "256"
		j.Spec.Tasks[0].Replicas = 10_000
		j.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "0-4999", Reason: "JobArrayTaskLimit"}
	}))
	began := time.Now()
	got := run.RunAgainst(t, server)
	if got.Out != "42_[5000-9999%256] PD JobArrayTaskLimit\n" || got.Code != 0 {
		t.Errorf("got %q, %q", got.Out, got.Err)
	}
	t.Logf("it took %v", time.Since(began))
}

// In an array without a limit, every element has a pod. The elements that wait for nodes are still one row with the
// scheduler's reason, whether or not the columns depend on pods.
func TestElementsThatHavePodsAndNoNodesAreOneRow(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, slurmtest.ArrayWaitingForNodes()...)
	for format, want := range map[string]string{
		"%i %t %r": "42_[3-199] PD Resources\n42_0 R None\n42_1 R None\n42_2 R None\n",
		"%i":       "42_[3-199]\n42_0\n42_1\n42_2\n",
	} {
		if got := (golden.Run{Argv: []string{"slurm", "squeue", "-h", "-o", format}}).RunAgainst(t, server); got.Out != want {
			t.Errorf("-o %q: got %.300q %s, want %q", format, got.Out, got.Err, want)
		}
	}
	if got := (golden.Run{Argv: []string{"slurm", "squeue", "-h", "-t", "R", "-o", "%i"}}).RunAgainst(t, server); got.Out != "42_0\n42_1\n42_2\n" {
		t.Errorf("those that run: got %.300q %s", got.Out, got.Err)
	}
}

var manyJobs = flag.Int("slurm-jobs", 300, "of how many jobs squeue makes a list; 10000 with a server whose time is part of it")

// Every job is listed once, for any number of pages. -slurm-jobs=10000 -v prints the duration.
func TestSqueueListsJobsOfManyPages(t *testing.T) {
	t.Parallel()
	objects := make([]client.Object, 0, 2*(*manyJobs))
	for i := range *manyJobs {
		job := slurmtest.NewJob(i+1, fmt.Sprintf("job-%05d", i), "mei", "default", batchv1alpha1.Pending, time.Hour)
		objects = append(objects, job, golden.NewGroup(job, schedulingv1beta1.PodGroupPending, golden.WaitingExplanation()))
	}
	server := clitest.Start(t, append(objects, golden.NewQueue("default", 1, schedulingv1beta1.QueueStateOpen, nil))...)
	began := time.Now()
	got := golden.Run{Argv: []string{"slurm", "squeue", "-h"}}.RunAgainst(t, server)
	if n := strings.Count(got.Out, "(Resources)\n"); n != *manyJobs {
		t.Fatalf("%d rows: %.300s %s", n, got.Out, got.Err)
	}
	t.Logf("squeue of %d jobs: %v", *manyJobs, time.Since(began))
}
