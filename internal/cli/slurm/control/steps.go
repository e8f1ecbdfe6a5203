package control

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/scontrol"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// showSteps prints the batch scripts of running jobs, because no other steps are visible from outside the jobs.
func showSteps(ctx context.Context, c *program.Call, name string) error {
	jobs, step, one := strings.Cut(name, ".")
	refs, err := program.ParseJobWords(program.SplitList(jobs))
	if err != nil {
		return err
	}
	v, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Named: refs, Pods: true})
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(clusterdata.JobRows(c, v, true), func(r *listrow.Row) bool {
		return r.State.Code.BaseCode() != state.Running || (len(refs) > 0 && !matchesAny(r, refs))
	})
	if len(rows) == 0 || (one && step != "batch") {
		return usererror.Errorf("squeue -s lists running steps; to see other steps, run this command inside the job, or use sacct after the job has ended", "No job steps in the system")
	}
	slices.SortStableFunc(rows, listrow.CompareByNumber)
	form := scontrol.Form{Style: timeformat.NewStyle(c.Factory.Streams.Env("SLURM_TIME_FORMAT")), OneLine: c.Parsed.Has("oneliner")}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(scontrol.BatchStepText(r, form))
	}
	_, err = io.WriteString(c.Factory.Streams.Out, b.String())
	return err
}

// waitForRunning waits until the jobs are running. It returns an error if a job has ended.
func waitForRunning(ctx context.Context, c *program.Call, given []string) error {
	jobs, err := clusterdata.ReadNamedJobs(ctx, c, given, true)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if err := waitUntilRunning(ctx, c, job); err != nil {
			return err
		}
	}
	return nil
}

func waitUntilRunning(ctx context.Context, c *program.Call, job *batchv1alpha1.Job) error {
	cl, err := clusterdata.RetryingClient(c)
	if err != nil {
		return err
	}
	begun := func(now *batchv1alpha1.Job) bool {
		return now.Status.State.Phase == batchv1alpha1.Running || jobstatus.IsFinishedPhase(now.Status.State.Phase)
	}
	now, err := clusterdata.WaitForJob(ctx, cl, job, begun, clusterdata.WarnOnce(c, job))
	if err != nil {
		return err
	}
	if phase := now.Status.State.Phase; phase != batchv1alpha1.Running {
		return usererror.Errorf("sacct -j "+listrow.NumberOrName(job)+" shows how the job ended", "Job %s is no longer running: its state is %s", listrow.NumberOrName(job), phase)
	}
	return nil
}

// notifyJobs writes a message to the standard error of the jobs' scripts, through the launchers.
func notifyJobs(ctx context.Context, c *program.Call, given []string) error {
	if len(given) < 2 {
		return usererror.Errorf("specify a job and a message: scontrol notify 42 'the job will be stopped at noon'", "too few arguments for keyword:notify")
	}
	jobs, err := clusterdata.ReadNamedJobs(ctx, c, given[:1], true)
	if err != nil {
		return err
	}
	v, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Pods: true})
	if err != nil {
		return err
	}
	var problems []error
	for _, job := range jobs {
		told := false
		for _, pod := range v.Pods[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}] {
			if pod.Labels[keys.TaskSpec] == launchconfig.HeadTask && pod.Status.Phase == corev1.PodRunning {
				told = true
				problems = append(problems, attach.ExecInPod(ctx, c, pod, []string{launchconfig.Program, "notify", strings.Join(given[1:], " ")}))
			}
		}
		if !told {
			problems = append(problems, usererror.Errorf("squeue -t R lists running jobs", "Job %s is not running, so it cannot receive a message", listrow.NumberOrName(job)))
		}
	}
	return errors.Join(problems...)
}
