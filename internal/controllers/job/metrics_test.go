package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/metrics"
)

// labelsWith returns the labels of the series of vc's metrics that have a label with this part in its value, such as
// "volcano_job_failed_phase_count job_name=ns/a queue_name=q".
func labelsWith(t *testing.T, part string) []string {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			text := f.GetName()
			for _, l := range m.GetLabel() {
				text += " " + l.GetName() + "=" + l.GetValue()
			}
			if _, labels, _ := strings.Cut(text, " "); strings.Contains(labels, part) {
				found = append(found, text)
			}
		}
	}
	return found
}

func jobIn(queue, name string) *batchv1alpha1.Job {
	job := simpleJob(1)
	job.Name, job.Spec.Queue = name, queue
	return job
}

func TestEndsAreCountedByQueueAndJobsOnlyIfAsked(t *testing.T) {
	t.Parallel()
	r := New(Options{Now: newWorld(simpleJob(1)).reconciler.now})
	for _, phase := range []batchv1alpha1.JobPhase{batchv1alpha1.Running, batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted} {
		r.countPhaseEntry(jobIn("q-ended", "j-ended"), phase)
	}
	want := []string{
		"vc_jobs_ended_total phase=Aborted queue_name=q-ended", "vc_jobs_ended_total phase=Completed queue_name=q-ended",
		"vc_jobs_ended_total phase=Failed queue_name=q-ended", "vc_jobs_ended_total phase=Terminated queue_name=q-ended",
	}
	if got := append(labelsWith(t, "q-ended"), labelsWith(t, "j-ended")...); !slices.Equal(got, want) {
		t.Errorf("series\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, series := range labelsWith(t, "q-ended") {
		for _, field := range strings.Fields(series)[1:] {
			if label, _, _ := strings.Cut(field, "="); metrics.IsPerJobLabel(label) {
				t.Errorf("%s has a value for each job", series)
			}
		}
	}
	DeleteQueueMetrics("q-ended")
	if got := labelsWith(t, "q-ended"); len(got) > 0 {
		t.Errorf("the deleted queue still has %v", got)
	}
}

// TestSeriesOfHundredThousandJobsGoWithThem lets 100,000 jobs end and go. Every third job moves to another queue
// between two ends.
func TestSeriesOfHundredThousandJobsGoWithThem(t *testing.T) {
	t.Parallel()
	jobMetrics.Register()
	series := newJobSeries()
	const waves, jobsPerWave = 50, 2000
	for wave := range waves {
		for i := range jobsPerWave {
			job := jobIn("q-wave", fmt.Sprintf("wave-%d-%d", wave, i))
			series.countPhaseEntry(job, batchv1alpha1.Failed)
			if i%3 == 0 {
				job.Spec.Queue = "q-wave-2"
			}
			series.countPhaseEntry(job, batchv1alpha1.Completed)
		}
		if n := len(labelsWith(t, "/wave-")); n != 2*jobsPerWave {
			t.Fatalf("%d series of %d jobs, want two each", n, jobsPerWave)
		}
		for i := range jobsPerWave {
			series.deleteSeries(client.ObjectKeyFromObject(jobIn("", fmt.Sprintf("wave-%d-%d", wave, i))))
		}
	}
	if got := labelsWith(t, "q-wave"); len(got) > 0 || len(series.queuesOf) > 0 {
		t.Errorf("%d series and %d jobs are left, such as %v", len(got), len(series.queuesOf), got[:min(len(got), 3)])
	}
}
