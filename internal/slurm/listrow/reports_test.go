package listrow

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

func TestCancelledElementsHaveTheReportsOfTheirLaunchers(t *testing.T) {
	t.Parallel()
	began, ended := metav1.NewTime(time.Unix(1_700_000_000, 0)), metav1.NewTime(time.Unix(1_700_000_060, 0))
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "wide", Annotations: map[string]string{keys.Array: "5,7,9"}}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 6, PartitionPolicy: &batchv1alpha1.PartitionPolicySpec{PartitionSize: 2}}}
	job.Status.State.Phase = batchv1alpha1.Running
	job.Status.Array = &batchv1alpha1.ArrayStatus{Running: "5", Cancelled: "7,9"}
	report := launchconfig.Report{Signal: 15}
	job.Status.Reports = []batchv1alpha1.PodReport{
		{Task: "head", Index: 0, Message: report.EncodeText()}, // of an element that runs again
		{Task: "head", Index: 2, StartTime: &began, FinishTime: &ended, Message: report.EncodeText()},
		{Task: "head", Index: 4, Message: "the last words of another container"},
	}
	for _, row := range RowsOf(&Source{Job: job, PodsRead: true}, true) {
		got, ok := row.RecordedReport()
		isKept := row.Elements.Has(7)
		if ok != isKept || isKept && got.Signal != 15 {
			t.Errorf("element %v: %v, report %v", row.Elements, ok, got)
		}
		if isKept && (!row.Times.Start.Equal(began.Time) || !row.Times.End.Equal(ended.Time)) {
			t.Errorf("element %v: %v", row.Elements, row.Times)
		}
	}
}
