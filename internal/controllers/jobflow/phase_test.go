package jobflow

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	flow "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// TestEveryRowOfTheFlowTable covers each combination of states of a flow's jobs, with each previous phase: the phase
// depends only on the jobs. In Volcano, Succeed and Failed are final even if steps are added to the flow.
func TestEveryRowOfTheFlowTable(t *testing.T) {
	t.Parallel()
	const none batch.JobPhase = "none"
	for name, row := range map[string]struct {
		jobs [2]batch.JobPhase // of the two steps; "" for no job
		want flow.Phase
	}{
		"no job was made yet":                     {[2]batch.JobPhase{none, none}, flow.Pending},
		"a job that nobody has looked at":         {[2]batch.JobPhase{"", none}, flow.Pending},
		"all jobs wait":                           {[2]batch.JobPhase{batch.Pending, batch.Pending}, flow.Pending},
		"one runs":                                {[2]batch.JobPhase{batch.Running, none}, flow.Running},
		"one restarts":                            {[2]batch.JobPhase{batch.Restarting, none}, flow.Running},
		"one is being suspended":                  {[2]batch.JobPhase{batch.Aborting, none}, flow.Running},
		"one is suspended":                        {[2]batch.JobPhase{batch.Aborted, none}, flow.Running},
		"one is being completed":                  {[2]batch.JobPhase{batch.Completing, none}, flow.Running},
		"one is being terminated":                 {[2]batch.JobPhase{batch.Terminating, none}, flow.Running},
		"one has completed, the other is to come": {[2]batch.JobPhase{batch.Completed, none}, flow.Running},
		"one has completed, the other waits":      {[2]batch.JobPhase{batch.Completed, batch.Pending}, flow.Running},
		"all have completed":                      {[2]batch.JobPhase{batch.Completed, batch.Completed}, flow.Succeed},
		"one has failed":                          {[2]batch.JobPhase{batch.Failed, none}, flow.Failed},
		"one has failed while the other waits":    {[2]batch.JobPhase{batch.Failed, batch.Pending}, flow.Failed},
		"one has failed while the other runs":     {[2]batch.JobPhase{batch.Failed, batch.Running}, flow.Failed},
		"one has failed, the other has completed": {[2]batch.JobPhase{batch.Completed, batch.Failed}, flow.Failed},
		"one was terminated":                      {[2]batch.JobPhase{batch.Terminated, none}, flow.Failed},
		"one was terminated, the other completed": {[2]batch.JobPhase{batch.Completed, batch.Terminated}, flow.Failed},
	} {
		for _, was := range []flow.Phase{"", flow.Pending, flow.Running, flow.Succeed, flow.Failed} {
			t.Run(fmt.Sprintf("%s under %q", name, was), func(t *testing.T) {
				w := newWorld(t, flow.Flow{Name: "a"}, flow.Flow{Name: "b"})
				w.in.Flow.Status.State.Phase = was
				for i, phase := range row.jobs {
					if phase == none {
						continue
					}
					j := &batch.Job{ObjectMeta: metav1.ObjectMeta{Name: "f-" + w.in.Flow.Spec.Flows[i].Name, Namespace: "default"}}
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
				if began := len(p.Create) > 0; began && row.want == flow.Failed {
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
	w.phase(flow.Pending)
	w.in.Flow.Spec.Flows = []flow.Flow{{Name: "a"}}
	w.template("a")
	w.look()
	w.want("make f-a")
}
