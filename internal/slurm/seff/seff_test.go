package seff

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// newLine returns the line of a job of Mei that ran for a minute on one node.
func newLine(cpus, memory string) *sacct.Line {
	container := corev1.Container{Name: "main"}
	container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus), corev1.ResourceMemory: resource.MustParse(memory)}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train", Labels: map[string]string{keys.JobID: "42"}, Annotations: map[string]string{keys.User: "mei"}}}
	job.Spec.MinAvailable = 1
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 1, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}}}
	row := &listrow.Row{Source: &listrow.Source{Job: job, Cluster: "prod"}}
	row.Asked.Group = "physics"
	start := time.Unix(1_700_000_000, 0)
	return &sacct.Line{Row: row, Code: state.Completed, Start: start, End: start.Add(time.Minute), Pods: 1}
}

// requestGPUs adds GPUs to the request of a line's job.
func requestGPUs(line *sacct.Line, count string) {
	resources := &line.Job.Spec.Tasks[0].Template.Spec.Containers[0].Resources
	resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(count)}
}

// oneCore returns the output for a job with one core and 1 GiB that ran for a minute.
func oneCore(utilized, efficiency string) string {
	return `Job ID: 42
Cluster: prod
User/Group: mei/physics
State: COMPLETED (exit code 0)
Cores: 1
CPU Utilized: ` + utilized + `
CPU Efficiency: ` + efficiency + `% of 00:01:00 core-walltime
Job Wall-clock time: 00:01:00
Memory Utilized: 0.00 MB
Memory Efficiency: 0.00% of 1.00 GB (1.00 GB/node)
`
}

func TestGapsInTheMeasurementOfGPUsAreReported(t *testing.T) {
	t.Parallel()
	for measured, want := range map[time.Duration]bool{0: false, time.Second: true, 53 * time.Second: true, 54 * time.Second: false, time.Hour: false} {
		if got := (GPUTime{Measured: measured, Available: time.Minute}).HasGaps(); got != want {
			t.Errorf("%v of a minute: %v, want %v", measured, got, want)
		}
	}
}

func TestAJobIsComparedWithItsRequest(t *testing.T) {
	t.Parallel()
	wide := newLine("4", "2Gi")
	wide.Usage = launchconfig.Usage{CPUMillis: 180_000, MaxRSS: 512 << 10}
	wide.Row.Elements, wide.Row.Position = batchv1alpha1.Indices{{First: 7, Last: 7}}, 3
	onGPUs := newLine("1", "1Gi")
	onGPUs.Usage = launchconfig.Usage{CPUMillis: 6000, GPUMillis: 87_840, GPUMeasuredMillis: 120_000}
	requestGPUs(onGPUs, "2")
	idle := newLine("1", "1Gi")
	idle.Usage = launchconfig.Usage{GPUMeasuredMillis: 60_000}
	requestGPUs(idle, "1")
	withoutExporter := newLine("1", "1Gi")
	requestGPUs(withoutExporter, "1")
	byClaim := newLine("1", "1Gi")
	byClaim.Usage = launchconfig.Usage{GPUMillis: 87_840, GPUMeasuredMillis: 80_000, GPUs: 2}
	byOldClaim := newLine("1", "1Gi")
	byOldClaim.Usage = launchconfig.Usage{GPUMillis: 87_840, GPUMeasuredMillis: 118_000}
	shortly := newLine("1", "1Gi")
	shortly.Usage = launchconfig.Usage{GPUMeasuredMillis: 10_000}
	both := newLine("1", "1Gi")
	both.Usage = launchconfig.Usage{GPUMillis: 87_840, GPUMeasuredMillis: 120_000, GPUs: 2}
	requestGPUs(both, "1")
	unmeasured := newLine("500m", "0")
	unmeasured.Code, unmeasured.Ended = state.Failed, state.Exit{Code: 3}
	for name, test := range map[string]struct {
		line *sacct.Line
		want string
	}{
		"an element with four cores": {wide, `Job ID: 45
Array Job ID: 42_7
Cluster: prod
User/Group: mei/physics
State: COMPLETED (exit code 0)
Nodes: 1
Cores per node: 4
CPU Utilized: 00:03:00
CPU Efficiency: 75.00% of 00:04:00 core-walltime
Job Wall-clock time: 00:01:00
Memory Utilized: 512.00 MB
Memory Efficiency: 25.00% of 2.00 GB (2.00 GB/node)
`},
		"GPUs": {onGPUs, oneCore("00:00:06", "10.00") + `GPU Utilized: 00:01:27
GPU Efficiency: 73.20% of 00:02:00 gpu-walltime
`},
		"GPUs of a claim, some of whose samples are missing": {byClaim, oneCore("00:00:00", "0.00") + `GPU Utilized: 00:01:27
GPU Efficiency: 73.20% of 00:02:00 gpu-walltime
`},
		"GPUs of a claim whose number was not recorded": {byOldClaim, oneCore("00:00:00", "0.00") + `GPU Utilized: 00:01:27
GPU Efficiency: 73.20% of 00:02:00 gpu-walltime
`},
		"a GPU of a claim that was measured for a moment": {shortly, oneCore("00:00:00", "0.00") + `GPU Utilized: 00:00:00
GPU Efficiency: 0.00% of 00:01:00 gpu-walltime
`},
		"a requested GPU and one of a claim": {both, oneCore("00:00:00", "0.00") + `GPU Utilized: 00:01:27
GPU Efficiency: 73.20% of 00:02:00 gpu-walltime
`},
		"a GPU that was idle": {idle, oneCore("00:00:00", "0.00") + `GPU Utilized: 00:00:00
GPU Efficiency: 0.00% of 00:01:00 gpu-walltime
`},
		"a GPU that was not measured": {withoutExporter, oneCore("00:00:00", "0.00")},
		"a job without a measurement": {unmeasured, `Job ID: 42
Cluster: prod
User/Group: mei/physics
State: FAILED (exit code 3)
Cores: 1
CPU Utilized: 00:00:00
CPU Efficiency: 0.00% of 00:01:00 core-walltime
Job Wall-clock time: 00:01:00
Memory Utilized: 0.00 MB
Memory Efficiency: 0.00% of 0.00 MB (0.00 MB/node)
`},
	} {
		if diff := cmp.Diff(test.want, Format(test.line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
