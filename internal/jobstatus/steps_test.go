package jobstatus

import (
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func TestAJobStopsAtTheStepOfItsReason(t *testing.T) {
	t.Parallel()
	explained := func(code reason.Code, phase schedulingv1beta1.PodGroupPhase) *schedulingv1beta1.PodGroup {
		return &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Phase: phase, Explanation: &schedulingv1beta1.Explanation{Reason: string(code), Message: "so it is"}}}
	}
	inqueue, pending := schedulingv1beta1.PodGroupInqueue, schedulingv1beta1.PodGroupPending
	cases := map[string]struct {
		group *schedulingv1beta1.PodGroup
		job   batchv1alpha1.JobStatus
		want  string
	}{
		"a closed queue":                                       {explained(reason.QueueClosed, pending), batchv1alpha1.JobStatus{}, "queue"},
		"a queue that is full":                                 {explained(reason.OverCapability, pending), batchv1alpha1.JobStatus{}, "admitted"},
		"a gang that has to wait for its turn":                 {explained(reason.BehindOthers, inqueue), batchv1alpha1.JobStatus{}, "order"},
		"a share that is used up before the gang is let in":    {explained(reason.OverDeserved, pending), batchv1alpha1.JobStatus{}, "admitted"},
		"a share that is used up after the gang was let in":    {explained(reason.OverDeserved, inqueue), batchv1alpha1.JobStatus{}, "order"},
		"a gang that is not let in since it would not fit":     {explained(reason.GangDoesNotFit, pending), batchv1alpha1.JobStatus{}, "admitted"},
		"a gang that does not fit":                             {explained(reason.GangDoesNotFit, inqueue), batchv1alpha1.JobStatus{}, "nodes"},
		"a reason that nobody thought of here is of the nodes": {explained(reason.ByPolicy, inqueue), batchv1alpha1.JobStatus{}, "nodes"},
		"victims that still end":                               {explained(reason.WaitingForVictims, inqueue), batchv1alpha1.JobStatus{}, "evict"},
		"a job that is held":                                   {nil, batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Pending, Reason: string(reason.JobHeldUser), Message: "it is held"}}, "gate"},
		"a job that nobody has seen":                           {nil, batchv1alpha1.JobStatus{}, "submitted"},
		"pods that start":                                      {&schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupRunning}}, batchv1alpha1.JobStatus{}, "start"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := NewReport(&Sheet{Job: &batchv1alpha1.Job{Status: tc.job}, Group: tc.group}).Steps()
			blocked := ""
			for i, step := range steps {
				switch {
				case step.Result == Blocked && blocked != "":
					t.Errorf("it stops twice: %v", steps)
				case step.Result == Blocked:
					blocked = step.Name
				case blocked != "" && step.Result == Passed:
					t.Errorf("step %d is passed behind the one that stops it: %v", i, steps)
				}
			}
			if blocked != tc.want {
				t.Errorf("it stops at %q, want %q: %v", blocked, tc.want, steps)
			}
		})
	}
	if steps := NewReport(&Sheet{Job: &batchv1alpha1.Job{Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running}}}}).Steps(); steps != nil {
		t.Errorf("a job that runs waits for nothing: %v", steps)
	}
}
