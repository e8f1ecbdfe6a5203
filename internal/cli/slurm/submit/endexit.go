package submit

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// waitForEnd waits until a job has ended and returns its exit status: the exit code of the script, the highest exit
// code of an array, or 1 if a signal ended the job.
func waitForEnd(ctx context.Context, c *program.Call, job *batchv1alpha1.Job) error {
	cl, err := clusterdata.RetryingClient(c)
	if err != nil {
		return err
	}
	ended, err := clusterdata.WaitForJobEnd(ctx, cl, job, clusterdata.WarnOnce(c, job))
	if err != nil {
		return err
	}
	code := endExitCode(ctx, c, cl, ended)
	if code == 0 {
		return nil
	}
	return cli.ExitStatus(code)
}

// endExitCode returns the exit code that represents the end of a job.
func endExitCode(ctx context.Context, c *program.Call, cl client.Client, job *batchv1alpha1.Job) int {
	facts := state.Facts{Job: job, Now: c.Factory.Now()}
	if parts, isArray := state.ElementParts(facts); isArray {
		code := 0
		for _, part := range parts {
			if part.State.Code != state.Completed {
				code = max(code, exitCode(part.Exit), 1)
			}
		}
		return code
	}
	pods := &corev1.PodList{}
	if err := cl.List(ctx, pods, client.InNamespace(job.Namespace), client.MatchingLabels{keys.JobName: job.Name}); err == nil {
		all := make([]*corev1.Pod, len(pods.Items))
		for i := range pods.Items {
			all[i] = &pods.Items[i]
		}
		facts.Pods = state.SummarizePods(all)
	}
	if state.Of(facts).Code == state.Completed {
		return 0
	}
	if facts.Pods == nil {
		return 1
	}
	return max(exitCode(facts.Pods.Exit), 1)
}

// exitCode returns the exit code of e, or 1 for a signal.
func exitCode(e state.Exit) int {
	if e.Signal > 0 {
		return 1
	}
	return e.Code
}
