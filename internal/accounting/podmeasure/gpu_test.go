package podmeasure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/podusage"
)

// gpuSample returns a sample of a GPU.
func gpuSample(gpu uint64, at, utilization float64) GPUSample {
	return GPUSample{GPU: gpu, At: after(at), Utilization: utilization}
}

// gpuRound returns a round with steps of ten seconds and samples of the pod a.
func gpuRound(until float64, samples ...GPUSample) *GPURound {
	name := types.NamespacedName{Namespace: "default", Name: "a"}
	return &GPURound{Until: after(until), Step: 10 * time.Second, Samples: map[types.NamespacedName][]GPUSample{name: samples}}
}

// gpuPod returns a running pod that started at a time.
func gpuPod(at float64) *corev1.Pod {
	pod := runningPod(newJob(), "a", "0", "node-1")
	begin := metav1.NewTime(after(at))
	pod.Status.StartTime = &begin
	return pod
}

// gpus returns a use of one GPU.
func gpus(busySeconds, measuredSeconds, until float64) podusage.Use {
	return podusage.Use{GPUs: 1, GPUMilliseconds: int64(busySeconds * 1000), GPUMeasuredMilliseconds: int64(measuredSeconds * 1000), GPUMeasuredUntil: after(until).Unix()}
}

// twoGPUs returns a use of two GPUs.
func twoGPUs(busySeconds, measuredSeconds, until float64) podusage.Use {
	use := gpus(busySeconds, measuredSeconds, until)
	use.GPUs = 2
	return use
}

func TestTheUseOfGPUsFollowsFromTheSamples(t *testing.T) {
	t.Parallel()
	busy := gpuRound(20, gpuSample(1, 10, 1), gpuSample(1, 20, 0.5))
	for _, test := range []struct {
		name   string
		rounds []*GPURound
		end    float64 // 0: still running
		want   podusage.Use
	}{
		{"each sample is valid for a step", []*GPURound{busy}, 0, gpus(15, 20, 20)},
		{"an idle GPU is measured", []*GPURound{gpuRound(10, gpuSample(1, 10, 0))}, 0, gpus(0, 10, 10)},
		{"GPUs are summed up", []*GPURound{gpuRound(10, gpuSample(1, 10, 0.2), gpuSample(2, 10, 0.7))}, 0, twoGPUs(9, 20, 10)},
		{"a GPU that is read twice counts once", []*GPURound{gpuRound(10, gpuSample(1, 10, 0.4), gpuSample(2, 10, 0.1), gpuSample(1, 10, 0.5))}, 0, twoGPUs(6, 20, 10)},
		{"the largest number of GPUs counts", []*GPURound{gpuRound(10, gpuSample(1, 10, 0.2), gpuSample(2, 10, 0.7)), gpuRound(20, gpuSample(1, 20, 1))}, 0, twoGPUs(19, 30, 20)},
		{"a GPU that replaces another counts once", []*GPURound{gpuRound(20, gpuSample(1, 10, 1), gpuSample(2, 20, 1))}, 0, gpus(20, 20, 20)},
		{"no time counts twice", []*GPURound{busy, busy, gpuRound(30, gpuSample(1, 20, 1), gpuSample(1, 30, 1))}, 0, gpus(25, 30, 30)},
		{"time without samples is not invented", []*GPURound{busy, gpuRound(600, gpuSample(1, 600, 1))}, 0, gpus(25, 30, 600)},
		{"samples before the start are of another pod", []*GPURound{gpuRound(10, gpuSample(1, -10, 1), gpuSample(1, 0, 1), gpuSample(1, 10, 0.5))}, 0, gpus(5, 10, 10)},
		{"the step in which the pod starts counts in part", []*GPURound{gpuRound(4, gpuSample(1, 4, 0.5))}, 0, gpus(2, 4, 4)},
		{"a sample after the end of the round", []*GPURound{gpuRound(10, gpuSample(1, 10, 1), gpuSample(1, 20, 1))}, 0, gpus(10, 10, 10)},
		{"the GPUs are as busy at the end as before", []*GPURound{busy}, 24, gpus(17, 24, 24)},
		{"a long time without samples is estimated only in part", []*GPURound{busy}, 1000, gpus(45, 80, 80)},
		{"GPUs that were not measured last are not estimated", []*GPURound{busy, gpuRound(30)}, 35, gpus(15, 20, 30)},
		{"a pod without GPUs", []*GPURound{gpuRound(10)}, 15, podusage.Use{CPUMilliseconds: 5000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tracker, job, pod := New(time.Minute), newJob(), gpuPod(0)
			tracker.Observe(job, pod, observedAt)
			if test.want.GPUMeasuredUntil == 0 {
				tracker.AddSamples("a", []Sample{sample(15, 5, 0)})
			}
			for _, round := range test.rounds {
				tracker.AddGPURound(round)
			}
			if test.end != 0 {
				tracker.Observe(job, endPod(pod, after(test.end)), observedAt)
				tracker.Observe(job, endPod(pod, after(test.end)), observedAt) // changes nothing
				tracker.AddGPURound(gpuRound(test.end+100, gpuSample(1, test.end+100, 1)))
			}
			if diff := cmp.Diff(test.want, useOf(t, tracker)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A leader that takes over continues at the time that the annotation names: it neither loses nor repeats samples.
func TestTheUseOfGPUsSurvivesARestart(t *testing.T) {
	t.Parallel()
	first, job, pod := New(time.Minute), newJob(), gpuPod(0)
	first.Observe(job, pod, observedAt)
	first.AddGPURound(gpuRound(20, gpuSample(1, 10, 1), gpuSample(1, 20, 0.5)))
	writes := first.DueWrites(after(20), time.Minute, 10)
	if len(writes) != 1 {
		t.Fatalf("writes %+v, want one", writes)
	}
	first.AddGPURound(gpuRound(30, gpuSample(1, 30, 1))) // is not written any more
	pod.Annotations[keys.Used] = writes[0].Use.Encode()

	second := New(time.Minute)
	second.Observe(job, pod, observedAt)
	if from, ok := second.GPUsMeasuredUntil(); !ok || !from.Equal(after(20)) {
		t.Errorf("the second leader needs samples after %v, %v; want %v", from, ok, after(20))
	}
	second.AddGPURound(gpuRound(40, gpuSample(1, 10, 1), gpuSample(1, 20, 0.5), gpuSample(1, 30, 1), gpuSample(1, 40, 1)))
	if diff := cmp.Diff(gpus(35, 40, 40), useOf(t, second)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	second.Observe(job, pod, observedAt) // the old annotation again
	if diff := cmp.Diff(gpus(35, 40, 40), useOf(t, second)); diff != "" {
		t.Errorf("after the old annotation (-want +got):\n%s", diff)
	}
}

func TestAUseFromTheFutureIsIgnored(t *testing.T) {
	t.Parallel()
	tracker, job, pod := New(time.Minute), newJob(), gpuPod(0)
	pod.Annotations[keys.Used] = gpus(1e6, 1e6, 1e6).Encode()
	tracker.Observe(job, pod, after(20))
	if from, ok := tracker.GPUsMeasuredUntil(); !ok || !from.Equal(after(0)) {
		t.Errorf("samples after %v are needed, %v; want those after the start", from, ok)
	}
	tracker.AddGPURound(gpuRound(20, gpuSample(1, 10, 1), gpuSample(1, 20, 0.5)))
	if diff := cmp.Diff(gpus(15, 20, 20), useOf(t, tracker)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if writes := tracker.DueWrites(after(20), time.Minute, 10); len(writes) != 1 {
		t.Errorf("writes %+v, want the measured use", writes)
	}
}

// Before the first container starts, an image may be pulled for minutes.
func TestGPUsAreMeasuredSinceTheFirstContainerStarted(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) metav1.Time { return metav1.NewTime(after(seconds)) }
	running := func(seconds float64) corev1.ContainerState {
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(seconds)}}
	}
	terminated := func(seconds float64) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at(seconds)}}
	}
	for _, test := range []struct {
		name     string
		statuses []corev1.ContainerStatus
		want     float64
	}{
		{"no container has started", []corev1.ContainerStatus{{}}, 5},
		{"two containers run", []corev1.ContainerStatus{{State: running(400)}, {}, {State: running(300)}}, 300},
		{"one has ended", []corev1.ContainerStatus{{State: running(400)}, {State: terminated(350)}}, 350},
		{"one was restarted", []corev1.ContainerStatus{{State: running(400), LastTerminationState: terminated(310)}}, 310},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tracker, pod := New(time.Minute), gpuPod(5)
			pod.Status.Phase = corev1.PodPending
			tracker.Observe(newJob(), pod, observedAt)
			pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodRunning, test.statuses
			tracker.Observe(newJob(), pod, observedAt)
			if from, ok := tracker.GPUsMeasuredUntil(); !ok || !from.Equal(after(test.want)) {
				t.Errorf("samples after %v are needed, want those after %v", from, after(test.want))
			}
		})
	}
}

func TestOnlyRunningPodsNeedSamplesOfGPUs(t *testing.T) {
	t.Parallel()
	tracker, job, pod := New(time.Minute), newJob(), gpuPod(5)
	if _, ok := tracker.GPUsMeasuredUntil(); ok {
		t.Error("samples are needed without pods")
	}
	tracker.Observe(job, pod, observedAt)
	if from, ok := tracker.GPUsMeasuredUntil(); !ok || !from.Equal(after(5)) {
		t.Errorf("samples after %v are needed, %v; want those after the start", from, ok)
	}
	tracker.AddGPURound(gpuRound(30))
	if from, _ := tracker.GPUsMeasuredUntil(); !from.Equal(after(30)) {
		t.Errorf("samples after %v are needed, although those until %v were added", from, after(30))
	}
	tracker.Observe(job, endPod(pod, after(40)), observedAt)
	if _, ok := tracker.GPUsMeasuredUntil(); ok {
		t.Error("samples are needed for a pod that has ended")
	}
}
