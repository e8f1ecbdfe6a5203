package slurm_test

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
	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/golden"
)

// An array of ten thousand elements is one row, however many of them have ended.
func TestAnArrayOfTenThousandIsOneRow(t *testing.T) {
	t.Parallel()
	run := golden.Run{Argv: []string{"slurm", "squeue", "-h", "-o", "%i %t %r"}}
	server := clitest.Start(t, batch(42, "sweep", "mei", "default", batchv1alpha1.Running, time.Hour, func(j *batchv1alpha1.Job) {
		j.Annotations[keys.Array], j.Annotations[keys.ArrayLimit] = "0-9999", "256"
		j.Spec.Tasks[0].Replicas = 10_000
		j.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "0-4999", Reason: "JobArrayTaskLimit"}
	}))
	began := time.Now()
	got := run.Do(t, server)
	if got.Out != "42_[5000-9999%256] PD JobArrayTaskLimit\n" || got.Code != 0 {
		t.Errorf("got %q, %q", got.Out, got.Err)
	}
	t.Logf("it took %v", time.Since(began))
}

var manyJobs = flag.Int("slurm-jobs", 300, "of how many jobs squeue makes a list; 10000 with a server whose time is part of it")

// Every job is listed once, whatever the number of pages; -slurm-jobs=10000 -v says how long it takes.
func TestSqueueListsJobsOfManyPages(t *testing.T) {
	t.Parallel()
	objects := make([]client.Object, 0, 2*(*manyJobs))
	for i := range *manyJobs {
		job := batch(i+1, fmt.Sprintf("job-%05d", i), "mei", "default", batchv1alpha1.Pending, time.Hour)
		objects = append(objects, job, golden.NewGroup(job, schedulingv1beta1.PodGroupPending, golden.Waiting()))
	}
	server := clitest.Start(t, append(objects, golden.NewQueue("default", 1, schedulingv1beta1.QueueStateOpen, nil))...)
	began := time.Now()
	got := golden.Run{Argv: []string{"slurm", "squeue", "-h"}}.Do(t, server)
	if n := strings.Count(got.Out, "(Resources)\n"); n != *manyJobs {
		t.Fatalf("%d rows: %.300s %s", n, got.Out, got.Err)
	}
	t.Logf("squeue of %d jobs: %v", *manyJobs, time.Since(began))
}
