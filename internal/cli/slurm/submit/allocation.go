package submit

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/usererror"
)

// quietTime is the time after which a message informs the user that the job is queued.
const quietTime = time.Second

// isHeterogeneous reports whether the operands of a command contain the separator between the components of a
// heterogeneous job. Only for srun does it search all operands and not just the first.
func isHeterogeneous(command request.Command, operands []string) bool {
	if len(operands) > 0 && operands[0] == nextComponent {
		return true
	}
	return command == request.Srun && slices.Contains(operands, nextComponent)
}

// submitAllocation submits an allocation and waits until its head pod is running. With --test-only, it submits nothing
// and returns nil without an error. The options listed in steps apply only to steps and are not part of the job's
// request.
func submitAllocation(ctx context.Context, c *program.Call, command request.Command, title string, steps []string) (*attach.Allocation, error) {
	if isHeterogeneous(command, c.Parsed.Operands) {
		return nil, heterogeneousError()
	}
	line := getopt.Parsed{Operands: c.Parsed.Operands}
	for _, given := range c.Parsed.Given {
		if !slices.Contains(steps, given.Name) {
			line.Given = append(line.Given, given)
		}
	}
	s := &jobInput{title: title, interactive: true}
	if err := buildRequest(ctx, c, s, request.Input{Command: command, Environ: c.UserEnvironment(), Line: line, Now: c.Factory.Now()}); err != nil {
		return nil, err
	}
	s.submitter = c.Factory.FindPermittedUser(ctx, s.site.namespace, c.UserName())
	result, err := translateJob(c, s)
	if err != nil {
		return nil, err
	}
	printNotes(c, s, result, "")
	if s.request.TestOnly {
		return nil, runTestOnly(ctx, c, s, result)
	}
	a := &attach.Allocation{Call: c}
	if a.Job, err = submitJob(ctx, c, result); err != nil {
		return nil, err
	}
	a.ID = listrow.NumberOrName(a.Job)
	return a, waitForHead(ctx, a, s.request.Immediate)
}

// waitForHead waits until the head pod is running. If patience is positive and exceeded, or on Ctrl-C, it cancels the
// allocation and returns an error.
func waitForHead(ctx context.Context, a *attach.Allocation, patience time.Duration) error {
	cl, err := clusterdata.RetryingClient(a.Call)
	if err != nil {
		return err
	}
	told := false
	queued := time.NewTimer(quietTime)
	defer queued.Stop()
	var busy <-chan time.Time
	if patience > 0 {
		busy = time.After(patience)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	pods := startHeadWatch(watching, cl, a.Job)
	ends := startEndWatch(watching, cl, a.Job)
	for {
		select {
		case <-ctx.Done():
			cancelJob(ctx, a)
			return usererror.Errorf("the job was cancelled because the command was interrupted; run the command again to retry", "Job allocation %s has been revoked", a.ID).WithCode(program.Interrupted)
		case <-busy:
			cancelJob(ctx, a)
			return usererror.Errorf("the allocation was not granted within "+patience.String()+" (--immediate); omit --immediate to wait", "Unable to allocate resources: Requested nodes are busy")
		case <-queued.C:
			told = true
			printStatusf(a, "job %s queued and waiting for resources", a.ID)
		case ended := <-ends:
			switch {
			case ctx.Err() != nil: // reported by the case of ctx.Done
			case ended.unseen:
				a.PrintNotef("warning", "cannot watch job %s, so this command cannot detect whether the job is cancelled: %v", a.ID, ended.err)
			case ended.err != nil:
				return usererror.Errorf("sacct -j "+a.ID+" shows the record of the job; run the command again to retry", "Job allocation %s has been revoked: %v", a.ID, ended.err)
			default:
				return usererror.Errorf(jobstatus.StateMessage(ended.job), "Job allocation %s has been revoked: the state of the job is %s", a.ID, ended.job.Status.State.Phase)
			}
		case a.Head = <-pods:
			if told {
				printStatusf(a, "job %s has been allocated resources", a.ID)
			}
			return nil
		}
	}
}

// printStatusf prints a line about the allocation, unless -Q is specified.
func printStatusf(a *attach.Allocation, format string, args ...any) {
	if !a.Parsed.Has("quiet") {
		fmt.Fprintf(a.Factory.Streams.Err, a.Table.Program+": "+format+"\n", args...)
	}
}

// startHeadWatch returns a channel that receives the head pod once the pod is running.
func startHeadWatch(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) <-chan *corev1.Pod {
	found := make(chan *corev1.Pod, 1)
	go func() {
		for ctx.Err() == nil {
			if pod := watchForHead(ctx, cl, job); pod != nil {
				found <- pod
				return
			}
		}
	}()
	return found
}

// watchForHead watches until the head pod is running. It returns nil if the watch ends first.
func watchForHead(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) *corev1.Pod {
	w, err := cl.Watch(ctx, &corev1.PodList{}, client.InNamespace(job.Namespace), client.MatchingLabels{keys.JobName: job.Name, keys.TaskSpec: launchconfig.HeadTask})
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(quietTime):
		}
		return nil
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if pod, ok := event.Object.(*corev1.Pod); ok && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			return pod
		}
	}
	return nil
}

// jobEnd describes the end of a job: its last state, or the error that explains why the job no longer exists. unseen is
// true if the user is not allowed to read the job.
type jobEnd struct {
	job    *batchv1alpha1.Job
	err    error
	unseen bool
}

// startEndWatch returns a channel that receives the end of a job. It is needed because the job may end before its head
// pod is running.
func startEndWatch(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) <-chan jobEnd {
	ended := make(chan jobEnd, 1)
	go func() {
		now, err := clusterdata.WaitForJobEnd(ctx, cl, job, func(error) {})
		ended <- jobEnd{now, err, apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)}
	}()
	return ended
}

// cancelJob terminates the job.
func cancelJob(ctx context.Context, a *attach.Allocation) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), idPatience)
	defer stop()
	cl, err := a.Factory.Client()
	if err == nil {
		// Errors are ignored here, because terminating the job matters more than recording who did it.
		_ = clusterdata.AnnotateJob(ctx, a.Call, a.Job, map[string]any{keys.CancelledBy: a.UserName()})
		err = cl.Create(ctx, clusterops.JobCommand(a.Job, busv1alpha1.TerminateJobAction))
	}
	if err != nil {
		a.PrintNotef("warning", "job %s could not be cancelled: %v", a.ID, err)
	}
}
