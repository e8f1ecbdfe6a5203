package jobflow

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// TestEveryRowOfTheFlowTable covers each combination of states of a flow's jobs, with each previous phase: the phase
// depends only on the jobs. In Volcano, Succeed and Failed are final even if steps are added to the flow.
func TestEveryRowOfTheFlowTable(t *testing.T) {
	t.Parallel()
	const none batchv1alpha1.JobPhase = "none"
	for name, row := range map[string]struct {
		jobs [2]batchv1alpha1.JobPhase // of the two steps; "" for no job
		want flowv1alpha1.Phase
	}{
		"no job was made yet":                     {[2]batchv1alpha1.JobPhase{none, none}, flowv1alpha1.Pending},
		"a job that nobody has looked at":         {[2]batchv1alpha1.JobPhase{"", none}, flowv1alpha1.Pending},
		"all jobs wait":                           {[2]batchv1alpha1.JobPhase{batchv1alpha1.Pending, batchv1alpha1.Pending}, flowv1alpha1.Pending},
		"one runs":                                {[2]batchv1alpha1.JobPhase{batchv1alpha1.Running, none}, flowv1alpha1.Running},
		"one restarts":                            {[2]batchv1alpha1.JobPhase{batchv1alpha1.Restarting, none}, flowv1alpha1.Running},
		"one is being suspended":                  {[2]batchv1alpha1.JobPhase{batchv1alpha1.Aborting, none}, flowv1alpha1.Running},
		"one is suspended":                        {[2]batchv1alpha1.JobPhase{batchv1alpha1.Aborted, none}, flowv1alpha1.Running},
		"one is being completed":                  {[2]batchv1alpha1.JobPhase{batchv1alpha1.Completing, none}, flowv1alpha1.Running},
		"one is being terminated":                 {[2]batchv1alpha1.JobPhase{batchv1alpha1.Terminating, none}, flowv1alpha1.Running},
		"one has completed, the other is to come": {[2]batchv1alpha1.JobPhase{batchv1alpha1.Completed, none}, flowv1alpha1.Running},
		"one has completed, the other waits":      {[2]batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Pending}, flowv1alpha1.Running},
		"all have completed":                      {[2]batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Completed}, flowv1alpha1.Succeed},
		"one has failed":                          {[2]batchv1alpha1.JobPhase{batchv1alpha1.Failed, none}, flowv1alpha1.Failed},
		"one has failed while the other waits":    {[2]batchv1alpha1.JobPhase{batchv1alpha1.Failed, batchv1alpha1.Pending}, flowv1alpha1.Failed},
		"one has failed while the other runs":     {[2]batchv1alpha1.JobPhase{batchv1alpha1.Failed, batchv1alpha1.Running}, flowv1alpha1.Failed},
		"one has failed, the other has completed": {[2]batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Failed}, flowv1alpha1.Failed},
		"one was terminated":                      {[2]batchv1alpha1.JobPhase{batchv1alpha1.Terminated, none}, flowv1alpha1.Failed},
		"one was terminated, the other completed": {[2]batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Terminated}, flowv1alpha1.Failed},
	} {
		for _, was := range []flowv1alpha1.Phase{"", flowv1alpha1.Pending, flowv1alpha1.Running, flowv1alpha1.Succeed, flowv1alpha1.Failed} {
			t.Run(fmt.Sprintf("%s under %q", name, was), func(t *testing.T) {
				w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, flowv1alpha1.Flow{Name: "b"})
				w.in.Flow.Status.State.Phase = was
				for i, phase := range row.jobs {
					if phase == none {
						continue
					}
					j := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "f-" + w.in.Flow.Spec.Flows[i].Name, Namespace: "default"}}
					j.Status.State.Phase = phase
					w.in.Jobs[j.Name] = j
				}
				p := Compute(w.in)
				got := was
				if p.Status != nil {
					got = p.Status.State.Phase
				}
				if got != row.want {
					t.Errorf("it is %q, want %q", got, row.want)
				}
				if began := len(p.Create) > 0; began && row.want == flowv1alpha1.Failed {
					t.Errorf("%s is begun although the flow has failed", p.Create[0].Name)
				}
			})
		}
	}
}

func TestAFlowWithoutStepsWaitsForSome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.look()
	w.phase(flowv1alpha1.Pending)
	w.in.Flow.Spec.Flows = []flowv1alpha1.Flow{{Name: "a"}}
	w.template("a")
	w.look()
	w.want("make f-a")
}
