package deviceshare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
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

// TestCardsOfGonePodsAreFree checks that the answer about a node changes when a pod is removed, even if the same question was
// asked before.
func TestCardsOfGonePodsAreFree(t *testing.T) {
	t.Parallel()
	p := &Policy{policy: binpack}
	n := &node{vgpu: []card{{id: "GPU-0", slots: 10, memory: 16000, healthy: true}}}
	a := &ask{vgpu: true, parts: []part{{cards: 1, memory: 10000}}}
	gone, waiting := &model.Task{Shape: &model.Shape{}}, &model.Task{Shape: &model.Shape{}}
	if !n.chargeCards(a, gone, grant{{{card: "GPU-0", amounts: amounts{1, 10000, 0}}}}, false, false) {
		t.Fatal("the running pod has no card")
	}
	if got := p.findCardsOnNode(n, a, waiting, false).code; got != reason.DeviceShort {
		t.Errorf("beside the running pod: %q, want %q", got, reason.DeviceShort)
	}
	n.removeHolder(a, gone)
	if got := p.findCardsOnNode(n, a, waiting, false).code; got != "" {
		t.Errorf("after the running pod: %q, want a card", got)
	}
}

// TestTheLargestContainerGetsACardFirstIfOtherwiseItGetsNone places containers for which the order of the pod does not work: the
// small container would take the large card.
func TestTheLargestContainerGetsACardFirstIfOtherwiseItGetsNone(t *testing.T) {
	t.Parallel()
	p := &Policy{policy: binpack}
	n := &node{vgpu: []card{{id: "large", slots: 10, memory: 10000, healthy: true}, {id: "small", slots: 10, memory: 6000, healthy: true}}}
	a := &ask{vgpu: true, parts: []part{{cards: 1, memory: 6000}, {cards: 1, memory: 10000}}}
	got := p.findCardsOnNode(n, a, &model.Task{Shape: &model.Shape{}}, false)
	if got.code != "" {
		t.Fatalf("%s %s, want a card for each container", got.code, got.detail)
	}
	cards := []string{got.grant[0][0].card, got.grant[1][0].card}
	if diff := cmp.Diff([]string{"small", "large"}, cards); diff != "" {
		t.Errorf("cards of the containers (-want +got):\n%s", diff)
	}
}

func TestAnInitContainerCannotRequestASharedDevice(t *testing.T) {
	t.Parallel()
	p := &Policy{vgpu: true}
	devices := []resource.Amount{{Name: keys.VGPUNumber, Value: 1}}
	shape := &model.Shape{Spec: podshape.Spec{Containers: []podshape.Container{{Name: "fetch", Init: true, Devices: devices}, {Name: "main", Devices: devices}}}}
	want := "init container fetch requests a shared device, but device plugins support only regular containers"
	if got := p.parseShapeRequest(shape); got == nil || got.problem != want {
		t.Errorf("%+v, want the problem %q", got, want)
	}
}
