package podusage

import (
	"testing"

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
	pod.Annotations[keys.Used] = "much"
	if _, ok := Of(pod); ok {
		t.Error("an invalid annotation is a use")
	}
}
