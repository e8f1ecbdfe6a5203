package cycle

import (
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

func TestOtherInsidersAreSummedAgainAfterAnotherOne(t *testing.T) {
	in := &insiders{}
	for range maxInside + 1 {
		in.addOther(&framework.Job{Gang: &model.Gang{HasMinResources: true}, Pending: make([]*model.Task, 3)})
	}
	if pods := in.countOtherPods(); pods != 3 {
		t.Errorf("%d pods besides the largest %d gangs, want 3", pods, maxInside)
	}
	in.addOther(&framework.Job{Gang: &model.Gang{HasMinResources: true}, Pending: make([]*model.Task, 2)})
	if pods := in.countOtherPods(); pods != 5 {
		t.Errorf("%d pods after another gang, want 5", pods)
	}
}
