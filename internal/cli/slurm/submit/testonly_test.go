package submit_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// foreseen runs sbatch --test-only with an answer of the scheduler. Nothing is submitted, whatever the answer is.
func foreseen(about string, verdict insightv1alpha1.Verdict, change func(*insightv1alpha1.Answer)) golden.Run {
	r := batchRun(about, slurmtest.HelloScript, "--test-only", "-N4", "-c8")
	r.Prepare = func(server *clitest.Server) {
		slurmtest.AddJobs(server)
		slurmtest.AddProfile(server)
		golden.AnswerPlans(golden.NewJobAnswer("sbatch-x7k2p", verdict, change))(server)
	}
	r.Check = func(t *testing.T, server *clitest.Server) {
		t.Helper()
		if made := len(server.CreatedObjects("Job")) + len(server.CreatedObjects("ConfigMap")); made > 0 {
			t.Errorf("%d objects were made", made)
		}
	}
	return r
}

func TestWhenAJobWouldStart(t *testing.T) {
	t.Parallel()
	explained := func(change func(*schedulingv1beta1.Explanation)) func(*insightv1alpha1.Answer) {
		return func(a *insightv1alpha1.Answer) {
			a.Explanation = golden.WaitingExplanation()
			change(a.Explanation)
		}
	}
	onTwo := []insightv1alpha1.Placement{{Node: "r05n07", Task: "head", Pods: 1}, {Node: "r05n08", Task: "node", Pods: 3}}
	golden.CompareRuns(t, "testonly", []golden.Run{
		foreseen("at once", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) { a.Placements = onTwo }),
		foreseen("when others have gone", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) {
			a.Placements = onTwo
			a.Victims = []insightv1alpha1.Victim{
				{Namespace: "nlp", Pod: "sweep-head-3", Job: "sweep", Reason: "preempt"}, {Namespace: "nlp", Pod: "train-sh-x7k2p-head-0", Job: "train-sh-x7k2p", Reason: "reclaim"},
				{Namespace: "nlp", Pod: "sweep-head-4", Job: "sweep", Reason: "preempt"}, {Namespace: "cv", Pod: "notebook", Reason: "preempt"},
				{Namespace: "nlp", Pod: "train-0", Job: "train", Reason: "reclaim"}, {Namespace: "cv", Pod: "gone-0", Job: "gone", Reason: "reclaim"},
			}
		}),
		foreseen("later", insightv1alpha1.VerdictWaits, explained(func(e *schedulingv1beta1.Explanation) {
			e.EstimatedStart = &metav1.Time{Time: golden.Now.Add(90 * time.Minute)}
		})),
		foreseen("nobody knows when", insightv1alpha1.VerdictWaits, explained(func(*schedulingv1beta1.Explanation) {})),
		foreseen("nobody knows when, and the scheduler says why", insightv1alpha1.VerdictWaits, explained(func(e *schedulingv1beta1.Explanation) {
			e.Estimate = "job train of queue research runs without a time limit"
		})),
		foreseen("it cannot start", insightv1alpha1.VerdictWaits, explained(func(e *schedulingv1beta1.Explanation) {
			e.Never, e.Estimate = true, "never: the job cannot start with its current request"
		})),
		foreseen("the scheduler does not know", insightv1alpha1.VerdictWaits, explained(func(e *schedulingv1beta1.Explanation) {
			e.Estimate = "unknown: the jobs that must end first have no time limit"
		})),
		foreseen("it would wait for something else than room", insightv1alpha1.VerdictWaits, func(a *insightv1alpha1.Answer) { a.Message = "the job is held back until 2026-03-02T08:00:00Z" }),
		foreseen("never", insightv1alpha1.VerdictNever, explained(func(e *schedulingv1beta1.Explanation) {
			e.Message, e.Hint = "no node has 8 cpu for a pod", "request at most 4 cpu a pod"
		})),
		foreseen("never, as it would be refused", insightv1alpha1.VerdictNever, func(a *insightv1alpha1.Answer) {
			a.Problems = []insightv1alpha1.Problem{{Field: "spec.queue", Message: `queue "default" is closed`}}
		}),
		foreseen("never, and nobody says why", insightv1alpha1.VerdictNever, nil),
	})
}
