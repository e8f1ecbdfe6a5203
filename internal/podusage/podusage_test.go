package podusage

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
)

func TestTheUseInAnAnnotationIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := Use{CPUMilliseconds: 1500, PeakMemoryBytes: 1 << 20}
	pod := &corev1.Pod{}
	if _, ok := Of(pod); ok {
		t.Error("a pod without the annotation has a use")
	}
	pod.Annotations = map[string]string{keys.Used: want.Encode()}
	if got, ok := Of(pod); !ok || got != want {
		t.Errorf("use %+v, %v, want %+v", got, ok, want)
	}
	for _, invalid := range []string{
		"much", `{"cpuMilliseconds":-1}`, `{"peakMemoryBytes":-1}`, `{"peakMemoryBytes":9223372036854775807}`, `{"gpuMilliseconds":-1}`,
		`{"gpuMilliseconds":9223372036855}`, `{"gpuMeasuredMilliseconds":9223372036854775807}`, `{"gpuMeasuredUntil":-1}`, `{"gpuMeasuredUntil":9223372036854775807}`,
	} {
		pod.Annotations[keys.Used] = invalid
		if use, ok := Of(pod); ok {
			t.Errorf("the invalid annotation %s is the use %+v", invalid, use)
		}
	}
}

func TestTheUseOfGPUsIsAbsentUnlessItWasMeasured(t *testing.T) {
	t.Parallel()
	unmeasured := Use{CPUMilliseconds: 1500}
	if text := unmeasured.Encode(); text != `{"cpuMilliseconds":1500}` {
		t.Errorf("annotation %s", text)
	}
	idle := Use{CPUMilliseconds: 1500, GPUMeasuredMilliseconds: 20_000, GPUMeasuredUntil: 1_700_000_000}
	if text := idle.Encode(); text != `{"cpuMilliseconds":1500,"gpuMeasuredMilliseconds":20000,"gpuMeasuredUntil":1700000000}` {
		t.Errorf("annotation %s", text)
	}
	busy := Use{CPUMilliseconds: 1000, GPUMilliseconds: 9000, GPUMeasuredMilliseconds: 10_000, GPUMeasuredUntil: 1_700_000_010}
	want := Use{CPUMilliseconds: 1500, GPUMilliseconds: 9000, GPUMeasuredMilliseconds: 20_000, GPUMeasuredUntil: 1_700_000_010}
	if got := idle.Max(busy); got != want {
		t.Errorf("maximum %+v, want %+v", got, want)
	}
	if b, m := busy.GPUTime(); b != 9*time.Second || m != 10*time.Second {
		t.Errorf("%v of %v", b, m)
	}
}
