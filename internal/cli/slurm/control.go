package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/act"
	"github.com/vc-batch/vc/internal/slurm/asked"
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launch"
	"github.com/vc-batch/vc/internal/slurm/record"
	"github.com/vc-batch/vc/internal/slurm/scontrol"
	"github.com/vc-batch/vc/internal/slurm/sinfo"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/slurm/value"
)

func matchesAny(r *record.Row, refs []value.Job) bool {
	return slices.ContainsFunc(refs, func(ref value.Job) bool { return r.Matches(ref) })
}

// jobsOf reads the jobs that words name, which are numbers, names, or jobname=NAME. All of them have to be there. What is to be changed may not be
// an element of an array.
func (c *call) jobsOf(ctx context.Context, given []string, changing bool) ([]*batchv1alpha1.Job, error) {
	var titles, named []string
	for _, word := range given {
		if name, value, ok := strings.Cut(word, "="); ok && strings.EqualFold(name, "jobname") {
			titles = append(titles, words(value)...)
		} else {
			named = append(named, word)
		}
	}
	if len(titles)+len(named) == 0 {
		return nil, fault.Errorf("name jobs, as 42 or 42,43", "too few arguments")
	}
	refs, err := jobsNamed(named)
	if err != nil {
		return nil, err
	}
	if len(titles) > 0 {
		refs = nil // all are read
	}
	v, err := c.read(ctx, wants{named: refs})
	if err != nil {
		return nil, err
	}
	if len(titles) > 0 {
		if refs, err = jobsNamed(named); err != nil {
			return nil, err
		}
	}
	var jobs []*batchv1alpha1.Job
	for _, job := range v.jobs {
		byName := slices.Contains(titles, batchv1alpha1.Title(job)) && !account.Finished(account.Phase(job))
		if byName || slices.ContainsFunc(refs, func(ref value.Job) bool { _, ok := record.Match(ref, job); return ok }) {
			jobs = append(jobs, job)
		}
	}
	for _, ref := range refs {
		i := slices.IndexFunc(jobs, func(job *batchv1alpha1.Job) bool { _, ok := record.Match(ref, job); return ok })
		if i < 0 {
			return nil, fault.Errorf("squeue and sacct list jobs", "Invalid job id specified for job %s", ref)
		}
		if elements, _ := record.Match(ref, jobs[i]); elements != nil {
			if !changing {
				continue
			}
			return nil, fault.Errorf("name the array, as "+(&record.Source{Job: jobs[i]}).Number()+"; scancel knows elements", "%s: elements of an array cannot be changed by themselves", ref)
		}
	}
	return jobs, nil
}

// each does a verb to the jobs that words name, with annotations that stand on the job before; where the verb cannot be done they are not written, and
// where it fails they are taken back.
func (c *call) each(ctx context.Context, words []string, verb *act.Verb, before map[string]any) error {
	jobs, err := c.jobsOf(ctx, words, true)
	if err != nil {
		return err
	}
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	cluster := &act.Cluster{Client: cl, Now: c.f.Now}
	var problems []error
	for _, job := range jobs {
		id := (&record.Source{Job: job}).Number()
		refusedNow, idle := verb.Judge(job)
		noted := before != nil && refusedNow == "" && idle == ""
		if noted {
			if err := c.annotate(ctx, job, before); err != nil {
				problems = append(problems, err)
				continue
			}
		}
		already, err := cluster.Job(ctx, verb, job)
		if err != nil && noted {
			problems = append(problems, c.annotate(ctx, job, asBefore(job, before)))
		}
		var refused *act.Refused
		switch {
		case errors.As(err, &refused):
			problems = append(problems, fault.Errorf(refused.Hint, "job %s: %s", id, strings.TrimPrefix(refused.What, "job \""+job.Name+"\": ")))
		case err != nil:
			problems = append(problems, err)
		case already != "":
			c.notef("note", "job %s %s", id, already)
		}
	}
	return errors.Join(problems...)
}

// asBefore is what annotations were, so that a change of them can be taken back.
func asBefore(job *batchv1alpha1.Job, changed map[string]any) map[string]any {
	was := map[string]any{}
	for key := range changed {
		was[key] = orNil(job.Annotations[key])
	}
	return was
}

func (c *call) hold(ctx context.Context, words []string) error {
	return c.each(ctx, words, act.Hold, nil)
}

func (c *call) release(ctx context.Context, words []string) error {
	return c.each(ctx, words, act.Release, nil)
}

func (c *call) requeue(ctx context.Context, words []string) error {
	return c.each(ctx, words, act.Restart, nil)
}

// requeueHold notes the hold first, so that the job does not start again before.
func (c *call) requeueHold(ctx context.Context, words []string) error {
	return c.each(ctx, words, act.Restart, map[string]any{keys.Hold: keys.HoldUser})
}

func (c *call) suspend(ctx context.Context, words []string) error {
	if err := c.each(ctx, words, act.Suspend, nil); err != nil {
		return err
	}
	c.notef("warning", "pods are stopped and start again from the beginning on resume")
	return nil
}

// resume takes back that somebody cancelled the job while it was suspended.
func (c *call) resume(ctx context.Context, words []string) error {
	return c.each(ctx, words, act.Resume, map[string]any{keys.CancelledBy: nil})
}

// update changes a job, a node or a partition.
func (c *call) update(ctx context.Context, given []string) error {
	list, err := scontrol.ParseUpdate(given)
	if err != nil {
		return fault.Errorf("write update JobId=42 TimeLimit=2:00:00", "%s", err)
	}
	for i, word := range list {
		rest := slices.Delete(slices.Clone(list), i, i+1)
		switch {
		case word.Is("JobId", "Job"):
			return c.updateJobs(ctx, words(word.Value), rest)
		case word.Is("NodeName", "Node"):
			return c.updateNodes(ctx, word.Value, rest)
		case word.Is("PartitionName"):
			return c.updatePartition(ctx, word.Value, rest)
		}
	}
	return fault.Errorf("write update JobId=42 TimeLimit=2:00:00, NodeName=n1 State=DRAIN, or PartitionName=nlp State=DOWN", "No valid entity in update command")
}

// jobChange is what an update does to a job.
type jobChange struct {
	annotations map[string]any
	asked       []func(*asked.Options)
	// limit and partition can be changed of jobs that have not been let in.
	limit     *int64
	partition string
}

// readJobChange reads the words of an update of a job.
func (c *call) readJobChange(list []scontrol.Word) (*jobChange, error) {
	change := &jobChange{annotations: map[string]any{}}
	for _, word := range list {
		switch {
		case word.Is("JobName", "Name"):
			change.annotations[keys.JobTitle] = word.Value
		case word.Is("Dependency"):
			if _, err := batchv1alpha1.ParseDependency(word.Value, ""); err != nil {
				return nil, fault.Errorf("write Dependency=afterok:42, or Dependency= for none", "Job dependency problem: %s", err)
			}
			change.annotations[keys.Dependency] = orNil(word.Value)
		case word.Is("ArrayTaskThrottle"):
			if n, err := strconv.Atoi(word.Value); err != nil || n < 0 {
				return nil, fault.Errorf("write how many elements may run at once; 0 is as many as there are", "Invalid ArrayTaskThrottle: %s", word.Value)
			} else if n == 0 {
				change.annotations[keys.ArrayLimit] = nil
				continue
			}
			change.annotations[keys.ArrayLimit] = word.Value
		case word.Is("StartTime"):
			t, err := value.ParseDate(word.Value, c.f.Now(), value.Coming)
			if err != nil {
				return nil, fault.Errorf("", "Invalid StartTime: %s", word.Value)
			}
			change.annotations[keys.Begin] = t.UTC().Format(time.RFC3339)
		case word.Is("Comment"):
			change.asked = append(change.asked, func(o *asked.Options) { o.Comment = word.Value })
		case word.Is("TimeLimit"):
			minutes, err := value.ParseTime(word.Value)
			if err != nil {
				return nil, fault.Errorf("write minutes, 2:00:00 or 1-12", "Invalid TimeLimit: %s", word.Value)
			}
			change.limit = new(max(0, int64(minutes)) * 60) // 0: none
		case word.Is("Partition"):
			change.partition = word.Value
			change.asked = append(change.asked, func(o *asked.Options) { o.Partition = word.Value })
		case word.Is("Priority", "Nice"):
			return nil, fault.Errorf("the order of jobs follows from priority classes (--qos) and shares; hold and release start and stop", "%s cannot be set", word.Name)
		default:
			return nil, fault.Errorf("of a job can be changed: TimeLimit, Partition, JobName, Comment, Dependency, StartTime, ArrayTaskThrottle", "Update of this parameter is not supported: %s", word.Name)
		}
	}
	return change, nil
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (c *call) updateJobs(ctx context.Context, named []string, list []scontrol.Word) error {
	change, err := c.readJobChange(list)
	if err != nil {
		return err
	}
	jobs, err := c.jobsOf(ctx, named, true)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if err := c.changeJob(ctx, job, change); err != nil {
			return err
		}
	}
	return nil
}

// changeJob writes a change; limit and queue only of a job that is held, which has no PodGroup yet that was made from them.
func (c *call) changeJob(ctx context.Context, job *batchv1alpha1.Job, change *jobChange) error {
	id := (&record.Source{Job: job}).Number()
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	if account.Finished(account.Phase(job)) {
		return fault.Errorf("", "Job has already finished for job %s", id)
	}
	patch := map[string]any{}
	if change.limit != nil || change.partition != "" {
		if !batchv1alpha1.AtGate(job) {
			return fault.Errorf("first: scontrol hold "+id+"; and then scontrol release "+id, "TimeLimit and Partition can be changed of jobs that are held only, and job %s is not", id)
		}
		spec, err := c.changedSpec(ctx, job, change)
		if err != nil {
			return err
		}
		patch["spec"] = spec
	}
	annotations := change.annotations
	if len(change.asked) > 0 {
		o := asked.Of(job)
		for _, set := range change.asked {
			set(&o)
		}
		changed := &batchv1alpha1.Job{}
		asked.Write(changed, o)
		annotations[keys.Slurm] = changed.Annotations[keys.Slurm]
	}
	patch["metadata"] = map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion, "annotations": annotations}
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	target := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	if err := cl.Patch(ctx, target, client.RawPatch(types.MergePatchType, text)); err != nil || change.limit == nil {
		return err
	}
	return c.tellLauncher(ctx, job, *change.limit)
}

// tellLauncher writes a limit, in seconds, where the launcher in the pod reads it, which sends --signal before it and reports a time-out. Jobs that sbatch
// did not make have no launcher.
func (c *call) tellLauncher(ctx context.Context, job *batchv1alpha1.Job, limit int64) error {
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	kept := &corev1.ConfigMap{}
	if err := cl.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: job.Name + translate.ObjectSuffix}, kept); err != nil {
		return client.IgnoreNotFound(err)
	}
	var spec map[string]json.RawMessage
	if err := json.Unmarshal([]byte(kept.Data[launch.SpecKey]), &spec); err != nil {
		return fmt.Errorf("ConfigMap %s/%s: %s: %w", kept.Namespace, kept.Name, launch.SpecKey, err)
	}
	spec["timeLimit"] = json.RawMessage(strconv.FormatInt(limit, 10))
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]string{launch.SpecKey: string(text)}})
	if err != nil {
		return err
	}
	return cl.Patch(ctx, kept, client.RawPatch(types.MergePatchType, patch))
}

// changedSpec is the part of the spec that a change of limit or queue is about.
func (c *call) changedSpec(ctx context.Context, job *batchv1alpha1.Job, change *jobChange) (map[string]any, error) {
	spec := map[string]any{}
	if change.partition != "" {
		partitions, _, err := c.partitions(ctx)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(partitions, func(p *sinfo.Partition) bool { return p.Name == change.partition })
		if i < 0 {
			i = slices.IndexFunc(partitions, func(p *sinfo.Partition) bool { return p.Queue.Name == change.partition })
		}
		if i < 0 {
			return nil, fault.Errorf("sinfo lists the partitions", "Invalid partition name specified: %s", change.partition)
		}
		spec["queue"] = partitions[i].Queue.Name
	}
	if change.limit == nil {
		return spec, nil
	}
	tasks := make([]batchv1alpha1.TaskSpec, len(job.Spec.Tasks))
	for i := range tasks {
		tasks[i] = *job.Spec.Tasks[i].DeepCopy()
		tasks[i].Template.Spec.ActiveDeadlineSeconds = nil
		if *change.limit > 0 {
			tasks[i].Template.Spec.ActiveDeadlineSeconds = change.limit
		}
	}
	spec["tasks"], spec["runningEstimate"] = tasks, nil
	if *change.limit > 0 {
		spec["runningEstimate"] = (time.Duration(*change.limit) * time.Second).String()
	}
	return spec, nil
}

// updateNodes drains nodes, or takes that back.
func (c *call) updateNodes(ctx context.Context, list string, change []scontrol.Word) error {
	names, err := hostlist.Expand(list)
	if err != nil {
		return fault.Errorf("", "Invalid node name specified: %s", list)
	}
	state, reason := "", ""
	for _, word := range change {
		switch {
		case word.Is("State"):
			state = strings.ToUpper(word.Value)
		case word.Is("Reason"):
			reason = word.Value
		default:
			return fault.Errorf("of a node can be changed: State (DRAIN, RESUME) and Reason", "Update of this parameter is not supported: %s", word.Name)
		}
	}
	if state == "DRAIN" && reason == "" {
		return fault.Errorf("write Reason='fan broken'", "You must specify a reason when DOWNING a node")
	}
	if state != "DRAIN" && state != "RESUME" && state != "UNDRAIN" && (state != "" || reason == "") {
		return fault.Errorf("states are DRAIN and RESUME; what runs on a drained node goes on", "Invalid node state: %s", state)
	}
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	cluster := &act.Cluster{Client: cl, Now: c.f.Now}
	for _, name := range names {
		if state != "" {
			if _, err := cluster.Cordon(ctx, name, state == "DRAIN"); err != nil {
				return err
			}
		}
		notes := map[string]any{keys.DrainReason: orNil(reason), keys.DrainedBy: nil, keys.DrainedAt: nil}
		if reason != "" {
			notes[keys.DrainedBy], notes[keys.DrainedAt] = c.me(), c.f.Now().UTC().Format(time.RFC3339)
		}
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": notes}})
		if err != nil {
			return err
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := cl.Patch(ctx, node, client.RawPatch(types.MergePatchType, text)); err != nil {
			return err
		}
	}
	return nil
}

// updatePartition opens or closes a queue.
func (c *call) updatePartition(ctx context.Context, name string, change []scontrol.Word) error {
	const hint = "of a partition can be changed: State (UP, DOWN, DRAIN, INACTIVE); vcctl queue update changes queues"
	open := map[string]bool{"UP": true, "DOWN": false, "DRAIN": false, "INACTIVE": false}
	if len(change) != 1 || !change[0].Is("State") {
		return fault.Errorf(hint, "Update of this parameter is not supported")
	}
	wish, known := open[strings.ToUpper(change[0].Value)]
	if !known {
		return fault.Errorf(hint, "Invalid partition state: %s", change[0].Value)
	}
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	_, err = (&act.Cluster{Client: cl, Now: c.f.Now}).SwitchQueue(ctx, name, wish)
	var refused *act.Refused
	if errors.As(err, &refused) {
		return fault.Errorf(refused.Hint, "%s", refused.What)
	}
	return err
}
