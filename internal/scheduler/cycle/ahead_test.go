package cycle

import (
	"testing"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
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

// TestAGangAdmittedInThisCycleIsAnInsider admits a gang after the insiders of its queue have been counted. A gang behind it
// is then not the first one of the queue.
func TestAGangAdmittedInThisCycleIsAnInsider(t *testing.T) {
	t.Parallel()
	q := &queue.Queue{}
	newGang := func(name string) *framework.Job {
		g := &model.Gang{Namespace: "default", Name: name}
		return &framework.Job{Gang: g, MinMember: 1, In: q, Phase: schedulingv1beta1.PodGroupPending}
	}
	first, second := newGang("first"), newGang("second")
	s := New(&session.Session{Rules: framework.Rules{}})
	s.AllWaiting, s.could = []*framework.Job{first, second}, map[*framework.Job]bool{first: true, second: true}
	if !s.findInsiders(q).precedesAll(s, second) {
		t.Fatal("without insiders, each gang precedes all of them")
	}
	first.Phase = schedulingv1beta1.PodGroupInqueue
	s.RecordAdmitted(first)
	if s.findInsiders(q).precedesAll(s, second) {
		t.Error("the second gang precedes the first one, which was admitted")
	}
}
