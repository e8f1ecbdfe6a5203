package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/scontrol"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/submission"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

// updateEntity changes a job, a node or a partition.
func updateEntity(ctx context.Context, c *program.Call, given []string) error {
	list, err := scontrol.ParseUpdate(given)
	if err != nil {
		return usererror.Errorf("use scontrol update JobId=42 TimeLimit=2:00:00", "%s", err)
	}
	for i, word := range list {
		rest := slices.Delete(slices.Clone(list), i, i+1)
		switch {
		case word.HasName("JobId", "Job"):
			return updateJobs(ctx, c, program.SplitList(word.Value), rest)
		case word.HasName("NodeName", "Node"):
			return updateNodes(ctx, c, word.Value, rest)
		case word.HasName("PartitionName"):
			return updatePartition(ctx, c, word.Value, rest)
		}
	}
	return usererror.Errorf("use scontrol update with JobId=42 TimeLimit=2:00:00, NodeName=n1 State=DRAIN, or PartitionName=nlp State=INACTIVE", "No valid entity in update command")
}

func updateJobs(ctx context.Context, c *program.Call, named []string, list []scontrol.Word) error {
	change, err := readJobChange(c, list)
	if err != nil {
		return err
	}
	jobs, err := clusterdata.ReadNamedJobs(ctx, c, named, true)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if err := changeJob(ctx, c, job, change); err != nil {
			return err
		}
	}
	return nil
}

// changeJob applies a change to a job. It changes the limit, the partition and the features only if the job has no
// PodGroup yet, for example because it is held. The exception is that a running job can get a shorter limit.
func changeJob(ctx context.Context, c *program.Call, job *batchv1alpha1.Job, change *jobChange) error {
	id := listrow.NumberOrName(job)
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	if jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) {
		return usererror.Errorf("submit the job again: scontrol update cannot change jobs that have ended", "Job has already finished for job %s", id)
	}
	patch := map[string]any{}
	sets := change.asked
	isShortened := change.changesOnlyLimit() && jobstatus.PhaseOrPending(job) == batchv1alpha1.Running
	switch {
	case isShortened:
		if err := checkShorterLimit(job, *change.limit); err != nil {
			return err
		}
		sets = append(slices.Clone(sets), recordLimit(job, *change.limit))
		if canLimitTemplates(job) {
			patch["spec"] = shorterSpecChanges(job, *change.limit)
		}
	case change.requiresNoPodGroup():
		if !batchv1alpha1.AtGate(job) {
			return usererror.Errorf("run scontrol hold "+id+" before the update and scontrol release "+id+" after it", "TimeLimit, Partition and Features of a pending job can be changed only while the job is held; job %s is not held", id)
		}
		spec, err := specChanges(ctx, c, job, change)
		if err != nil {
			return err
		}
		patch["spec"] = spec
	}
	if change.qos != "" {
		if err := changeQOS(ctx, c, job, change, patch); err != nil {
			return err
		}
	}
	annotations := change.annotations
	if len(sets) > 0 {
		o := submission.OptionsOf(job)
		for _, set := range sets {
			set(&o)
		}
		changed := &batchv1alpha1.Job{}
		submission.StoreOptions(changed, o)
		annotations[keys.Slurm] = changed.Annotations[keys.Slurm]
	}
	patch["metadata"] = map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion, "annotations": annotations}
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	target := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	if err := cl.Patch(ctx, target, client.RawPatch(types.MergePatchType, text)); err != nil || change.limit == nil {
		return updateError(id, err)
	}
	if isShortened {
		if err := shortenPods(ctx, c, job, *change.limit); err != nil || !canLimitTemplates(job) {
			return err
		}
	}
	return storeLauncherLimit(ctx, c, job, *change.limit)
}

// updateError returns Slurm's error if the API server rejected an update because it exceeds a limit of the job's queue.
// It returns other errors unchanged.
func updateError(id string, err error) error {
	if message, why := program.FindLimitRejection(err); message != "" {
		return usererror.Errorf(why, "%s for job %s", message, id)
	}
	return err
}

// storeLauncherLimit stores a limit, in seconds, in the ConfigMap from which the launcher in the pod reads it. The
// launcher uses the limit to send the signal requested with --signal in time, and to report a time-out. Jobs that were
// not created by sbatch have no launcher, so storeLauncherLimit does nothing for them.
func storeLauncherLimit(ctx context.Context, c *program.Call, job *batchv1alpha1.Job, limit int64) error {
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	kept := &corev1.ConfigMap{}
	if err := cl.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: job.Name + translate.ObjectSuffix}, kept); err != nil {
		return client.IgnoreNotFound(err)
	}
	if kept.Data[launchconfig.SpecKey] == "" {
		return nil
	}
	var spec map[string]json.RawMessage
	if err := json.Unmarshal([]byte(kept.Data[launchconfig.SpecKey]), &spec); err != nil {
		return fmt.Errorf("ConfigMap %s/%s: %s: %w", kept.Namespace, kept.Name, launchconfig.SpecKey, err)
	}
	spec["timeLimit"] = json.RawMessage(strconv.FormatInt(limit, 10))
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]string{launchconfig.SpecKey: string(text)}})
	if err != nil {
		return err
	}
	return cl.Patch(ctx, kept, client.RawPatch(types.MergePatchType, patch))
}

// specChanges returns the changes to the job spec for a new limit, partition or features.
func specChanges(ctx context.Context, c *program.Call, job *batchv1alpha1.Job, change *jobChange) (map[string]any, error) {
	spec := map[string]any{}
	queue := cmp.Or(job.Spec.Queue, keys.DefaultQueue)
	partition := cmp.Or(submission.OptionsOf(job).Partition, queue)
	if change.partition != "" {
		p, err := findPartition(ctx, c, change.partition)
		if err != nil {
			return nil, err
		}
		partition, queue = p.Name, p.Queue.Name
		spec["queue"] = queue
	}
	if change.limit != nil || change.partition != "" {
		limits, err := readPartitionLimits(ctx, c, partition, queue)
		if err != nil {
			return nil, err
		}
		if err := checkPartitionLimit(job, change, limits.MaxTime); err != nil {
			return nil, err
		}
		if change.limit != nil {
			maps.Copy(spec, limitSpecChanges(job, deadline(*change.limit, limits.ServerSetsTime)))
		}
	}
	if change.features == nil {
		return spec, nil
	}
	tasks, ok := spec["tasks"].([]batchv1alpha1.TaskSpec)
	if !ok {
		tasks = job.DeepCopy().Spec.Tasks
	}
	spec["tasks"] = tasks
	return spec, changeFeatures(ctx, c, job, tasks, *change.features)
}

// deadline returns the deadline of pods, in seconds, for a time limit, where 0 means no limit. If the server gives jobs
// without a deadline a default, the largest deadline means no limit.
func deadline(limit int64, serverSetsTime bool) int64 {
	if limit == 0 && serverSetsTime {
		return schedulingv1beta1.MaxDeadlineSeconds
	}
	return limit
}

// changeFeatures changes the node features that the tasks of a job require.
func changeFeatures(ctx context.Context, c *program.Call, job *batchv1alpha1.Job, tasks []batchv1alpha1.TaskSpec, features optionvalue.Features) error {
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	site, err := clusterdata.ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return err
	}
	var old optionvalue.Features
	if text := submission.OptionsOf(job).Features; text != "" {
		if old, err = optionvalue.ParseFeatures(text); err != nil {
			return err
		}
	}
	for i := range tasks {
		if err := translate.ChangeFeatures(&tasks[i].Template.Spec, site, old, features); err != nil {
			return err
		}
	}
	return nil
}

// readPartitionLimits returns the limits of a partition. If the queues cannot be read, they are those of the site's
// profile, and the API server checks the others.
func readPartitionLimits(ctx context.Context, c *program.Call, partition, queue string) (profile.Limits, error) {
	cl, err := c.Factory.Client()
	if err != nil {
		return profile.Limits{}, err
	}
	site, err := clusterdata.ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return profile.Limits{}, err
	}
	lookup := schedulingv1beta1.NewQueueLookup(c.Factory.ReadQueues(ctx)...)
	return site.LimitsOf(partition, schedulingv1beta1.EffectiveJobLimitsOf(queue, lookup)), nil
}

// checkPartitionLimit returns an error if the job's time limit would exceed the limit of its partition. sbatch performs
// the same check.
func checkPartitionLimit(job *batchv1alpha1.Job, change *jobChange, most optionvalue.Minutes) error {
	limit := optionvalue.Minutes((int64(state.TimeLimit(job)/time.Second) + 59) / 60)
	if change.limit != nil {
		limit = optionvalue.Minutes(*change.limit / 60)
	}
	if most > 0 && (limit <= 0 || limit > most) {
		return usererror.Errorf("the maximum is "+most.String(), program.InvalidTimeLimit+" for job %s", listrow.NumberOrName(job))
	}
	return nil
}
