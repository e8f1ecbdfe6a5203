package deviceshare

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// TestCardsOfLeavingPodsAreFreeLater checks that the answer about a node changes whenever a pod starts or stops to leave,
// even if the same question was asked before.
func TestCardsOfLeavingPodsAreFreeLater(t *testing.T) {
	t.Parallel()
	p := &Policy{policy: binpack}
	n := &node{vgpu: []card{{id: "GPU-0", slots: 10, memory: 16000, healthy: true}}}
	a := &ask{vgpu: true, parts: []part{{cards: 1, memory: 10000}}}
	running, waiting := &model.Task{Shape: &model.Shape{}}, &model.Task{Shape: &model.Shape{}}
	if !n.chargeCards(a, running, grant{{{card: "GPU-0", amounts: amounts{1, 10000, 0}}}}, false, false) {
		t.Fatal("the running pod has no card")
	}
	for _, step := range []struct {
		name    string
		leaving bool
		want    reason.Code
	}{{"it stays", false, reason.DeviceShort}, {"it leaves", true, ""}, {"it stays after all", false, reason.DeviceShort}} {
		n.markLeaving(a, running, step.leaving)
		if got := p.findCardsOnNode(n, a, waiting, true).code; got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
		if got := p.findCardsOnNode(n, a, waiting, false).code; got != reason.DeviceShort {
			t.Errorf("%s: %q now, want %q", step.name, got, reason.DeviceShort)
		}
	}
}
