package overview_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

// TestEveryRackOfALargeClusterIsOnTheScreen draws 5,000 nodes in 157 racks, of which one is idle and one is down.
func TestEveryRackOfALargeClusterIsOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, size := range []tuitest.Size{{W: 80, H: 24}, {W: 120, H: 40}, {W: 220, H: 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.W, size.H), func(t *testing.T) {
			t.Parallel()
			app, err := tui.New(tui.Settings{Specs: screens.AllScreenSpecs(), Theme: "dark", Colors: theme.NoColor, Program: "vcctl", Now: tuitest.Now})
			if err != nil {
				t.Fatal(err)
			}
			app.Resize(size.W, size.H)
			app.SetSnapshot(largeCluster())
			frame := app.Draw().Text()
			if !strings.Contains(frame, "one cell per rack") || strings.Contains(frame, "more nodes on screen 4") {
				t.Errorf("the map has no cell for each rack:\n%s", frame)
			}
			_, cells, _ := strings.Cut(frame, "█")
			if cells = "█" + cells; strings.Count(cells, "█") < 155 || !strings.Contains(cells, "█·█") || !strings.Contains(cells, "█X█") {
				t.Errorf("the idle and the lost rack are not among the cells:\n%s", frame)
			}
		})
	}
}

func largeCluster() *snapshot.Snapshot {
	const gpu = corev1.ResourceName("nvidia.com/gpu")
	amounts := func(n int64) nodecapacity.Amounts {
		return nodecapacity.Amounts{MilliCPU: 1000 * n, MemoryBytes: n << 30, Devices: map[corev1.ResourceName]int64{gpu: n}}
	}
	snap := snapshot.EmptySnapshot(tuitest.Now)
	snap.Connection.Link = snapshot.LinkLive
	snap.Resources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, gpu}
	for i := range 5000 {
		n := &snapshot.Node{Name: fmt.Sprintf("n%04d", i), State: nodecapacity.StateFull, Rack: fmt.Sprintf("r%03d", i/32), Has: amounts(8), Used: amounts(8)}
		switch n.Rack {
		case "r050":
			n.State, n.Used, n.Idle = nodecapacity.StateIdle, amounts(0), amounts(8)
		case "r070":
			n.State = nodecapacity.StateDown
		}
		snap.Nodes = append(snap.Nodes, n)
	}
	return snap
}
