package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/submission"
	"github.com/vc-batch/vc/internal/usererror"
)

// checkShorterLimit returns an error if a time limit, in seconds, cannot be set for a running job. A longer limit
// cannot be set, because Kubernetes permits only shortening the deadline of a pod. The limit of a running array cannot
// be set at all.
func checkShorterLimit(job *batchv1alpha1.Job, limit int64) error {
	id := listrow.NumberOrName(job)
	now := (&listrow.Row{Source: &listrow.Source{Job: job}, Asked: submission.OptionsOf(job)}).TimeLimit()
	isLonger := limit <= 0 || (now > 0 && time.Duration(limit)*time.Second > now)
	switch {
	case isLonger:
		return usererror.Errorf("the time limit of running pods can only be shortened; to extend the limit, first stop the job with scontrol requeuehold "+id,
			"Access/permission denied for job %s: the time limit of a running job cannot be extended", id)
	case job.Annotations[keys.Array] != "":
		return usererror.Errorf("use scancel to end tasks; TimeLimit can be changed only while the array is held", "TimeLimit of a running array cannot be changed: job %s is an array", id)
	}
	return nil
}

// canLimitTemplates reports whether the shorter limit can also be applied to the pods that a running job creates later.
// This is possible only for jobs with a number, because only vc's job controller, which assigns numbers, permits
// changes to templates.
func canLimitTemplates(job *batchv1alpha1.Job) bool {
	_, isNumbered := batchv1alpha1.JobID(job)
	return isNumbered
}

// shorterSpecChanges returns the changes to a running job's spec that set a shorter limit. An estimate of the run time
// that exceeds the limit is reduced to the limit, but no estimate is added.
func shorterSpecChanges(job *batchv1alpha1.Job, limit int64) map[string]any {
	spec := limitSpecChanges(job, limit)
	if estimate := job.Spec.RunningEstimate; estimate == nil || estimate.Duration <= time.Duration(limit)*time.Second {
		delete(spec, "runningEstimate")
	}
	return spec
}

// recordLimit returns a function that records a limit in the job's options if the job's templates keep the original
// limit. The recorded limit then applies only to the current pods. Otherwise, the function removes the recorded limit.
func recordLimit(job *batchv1alpha1.Job, limit int64) func(*submission.Options) {
	return func(o *submission.Options) {
		o.TimeLimit, o.TimeLimitRestarts = 0, 0
		if !canLimitTemplates(job) {
			o.TimeLimit, o.TimeLimitRestarts = limit, state.CountRestarts(job)
		}
	}
}

// shortenPods gives the pods of a running job a shorter time limit, in seconds.
func shortenPods(ctx context.Context, c *program.Call, job *batchv1alpha1.Job, limit int64) error {
	id := listrow.NumberOrName(job)
	v, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Pods: true})
	if err != nil {
		return err
	}
	pods := slices.DeleteFunc(slices.Clone(v.Pods[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}]), func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
	var problems []error
	for _, pod := range pods {
		problems = append(problems, shortenPod(ctx, c, pod, limit))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	for _, pod := range pods {
		isHead := pod.Labels[keys.TaskSpec] == launchconfig.HeadTask && pod.Status.Phase == corev1.PodRunning && submission.IsFromSlurm(job)
		if !isHead {
			continue
		}
		if err := attach.ExecInPod(ctx, c, pod, []string{launchconfig.Program, "limit", strconv.FormatInt(limit, 10)}); err != nil {
			c.PrintNotef("warning", "the script of job %s did not receive the new time limit, so --signal still uses the old limit: %v", id, err)
		}
	}
	if !canLimitTemplates(job) {
		c.PrintNotef("warning", "if job %s is requeued, its original time limit applies again, because this cluster's job controller does not permit changes to the limit", id)
	}
	return nil
}

// shortenPod changes the deadline of a pod.
func shortenPod(ctx context.Context, c *program.Call, pod *corev1.Pod, limit int64) error {
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "spec": map[string]any{"activeDeadlineSeconds": limit}})
	if err != nil {
		return err
	}
	target := &corev1.Pod{}
	target.Namespace, target.Name = pod.Namespace, pod.Name
	if err := cl.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("pod %s: %w", pod.Name, err)
	}
	return nil
}

// changeQOS adds the priority class of another QOS to the patch for a pending job.
func changeQOS(ctx context.Context, c *program.Call, job *batchv1alpha1.Job, change *jobChange, patch map[string]any) error {
	id := listrow.NumberOrName(job)
	if phase := jobstatus.PhaseOrPending(job); phase != batchv1alpha1.Pending && !batchv1alpha1.AtGate(job) {
		return usererror.Errorf("use scontrol requeuehold "+id+" to stop the job first", "QOS can be changed only for pending jobs: job %s is %s", id, phase)
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	if len(clusterdata.ListQOS(ctx, cl)) > 0 {
		return usererror.Errorf("cancel the job and submit it again with -q "+change.qos, "the QOS of job %s cannot be changed: the limits of its QOS already count it", id)
	}
	site, err := clusterdata.ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return err
	}
	class, mapped := site.QOS[change.qos]
	if !mapped {
		class = change.qos
	}
	if known := clusterdata.ListPriorityClasses(ctx, cl); known != nil && !slices.Contains(known, class) {
		return usererror.Errorf("kubectl get priorityclasses lists the valid names; the site's profile can define additional names", "Invalid qos specification for job %s: %s", id, change.qos)
	}
	spec, _ := patch["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	spec["priorityClassName"] = class
	patch["spec"] = spec
	return nil
}
