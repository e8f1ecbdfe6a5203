package listrow

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/podusage"
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

// The use of a row is that in the annotations of its pods. The report of the launcher may be newer than the annotation of
// the head.
func TestTheUseOfARowComesFromAnnotationsAndReports(t *testing.T) {
	t.Parallel()
	newPod := func(task string, use podusage.Use, message string) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{keys.TaskSpec: task}}}
		if use != (podusage.Use{}) {
			pod.Annotations = map[string]string{keys.Used: use.Encode()}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}}}
		return pod
	}
	report := launchconfig.Report{Usage: launchconfig.Usage{CPUMillis: 500, MaxRSS: 10}}.EncodeText()
	measured := func(cpu, kibibytes int64) podusage.Use {
		return podusage.Use{CPUMilliseconds: cpu, PeakMemoryBytes: kibibytes << 10}
	}
	onGPUs := func(busy, measured int64) podusage.Use {
		return podusage.Use{GPUMilliseconds: busy, GPUMeasuredMilliseconds: measured, GPUs: 1, GPUMeasuredUntil: 1_700_000_000}
	}
	for _, test := range []struct {
		name string
		row  Row
		want launchconfig.Usage
		ok   bool
	}{
		{"nothing is known", Row{Mine: []*corev1.Pod{newPod("head", podusage.Use{}, "")}}, launchconfig.Usage{}, false},
		{"only the report", Row{Mine: []*corev1.Pod{newPod("head", podusage.Use{}, report)}}, launchconfig.Usage{CPUMillis: 500, MaxRSS: 10}, true},
		{"an older annotation", Row{Mine: []*corev1.Pod{newPod("head", measured(400, 20), report)}}, launchconfig.Usage{CPUMillis: 500, MaxRSS: 20}, true},
		{"two pods", Row{Mine: []*corev1.Pod{newPod("node", measured(300, 5), ""), newPod("head", measured(600, 20), report)}}, launchconfig.Usage{CPUMillis: 900, MaxRSS: 25}, true},
		{"GPUs of two pods", Row{Mine: []*corev1.Pod{newPod("node", onGPUs(300, 400), ""), newPod("head", onGPUs(50, 100), report)}}, launchconfig.Usage{CPUMillis: 500, MaxRSS: 10, GPUMillis: 350, GPUMeasuredMillis: 500, GPUs: 2}, true},
		{"an earlier attempt", Row{IsEarlier: true, RecordedUse: launchconfig.Usage{CPUMillis: 7}}, launchconfig.Usage{CPUMillis: 7}, true},
		{"an earlier attempt that was not measured", Row{IsEarlier: true}, launchconfig.Usage{}, false},
	} {
		test.row.Source = &Source{Job: &batchv1alpha1.Job{}}
		if got, ok := test.row.MeasuredUse(); got != test.want || ok != test.ok {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, got, ok, test.want, test.ok)
		}
	}
}
