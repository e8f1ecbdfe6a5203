package daemon

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func TestCardsAreShownUnderVolcanosNames(t *testing.T) {
	pod := decision.Object{Namespace: "default", Name: "train-0"}
	observeDevices([]decision.NodeDevices{{Node: "a", Cards: []decision.CardFigures{{
		Card: "GPU-0", Shared: 2, MemoryMiB: 3000, Cores: 30, MemoryLimitMiB: 16000,
		Pods: []decision.PodOnCard{{Pod: pod, MemoryMiB: 1000, Cores: 10}, {Pod: pod, MemoryMiB: 2000, Cores: 20}},
	}}}}, true)
	want := `# HELP volcano_vgpu_device_memory_allocation_for_a_certain_pod Device memory allocated to a pod, in MiB.
# TYPE volcano_vgpu_device_memory_allocation_for_a_certain_pod gauge
volcano_vgpu_device_memory_allocation_for_a_certain_pod{NodeName="a",devID="GPU-0",podName="default/train-0"} 3000
`
	if err := testutil.CollectAndCompare(cardPodMemory, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	observeDevices([]decision.NodeDevices{{Node: "a"}}, true)
	if n := testutil.CollectAndCount(cardLimit) + testutil.CollectAndCount(cardPodMemory); n != 0 {
		t.Errorf("%d series are left of a node without cards", n)
	}
}
