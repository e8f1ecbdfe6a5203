package submit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/scrontab"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

// planned holds the objects of one entry.
type planned struct {
	cronJob *batchv1alpha1.CronJob
	// with holds the ConfigMap and the Secret that the jobs of the entry read.
	with []client.Object
}

// historyLimit is the maximum number of ended jobs that are kept for an entry. As with sbatch, the jobs themselves
// specify how long they are kept.
const historyLimit = 100

// planEntry translates an entry in the same way as sbatch translates a script.
func (t *crontab) planEntry(ctx context.Context, e *scrontab.Entry) (*planned, error) {
	parsed, err := sbatchTable.ParseArguments(directive.WordTexts(e.Options))
	if err != nil {
		return nil, usererror.Errorf("use sbatch options", "%v", err)
	}
	if option := forbiddenOption(parsed.Given); option != "" {
		return nil, usererror.Errorf("remove the option: the schedule determines when the job starts", "--%s cannot be used in scrontab", option)
	}
	if len(parsed.Operands) > 0 {
		return nil, usererror.Errorf("options start with -", "Invalid directive found in scrontab: %s", parsed.Operands[0])
	}
	s := &jobInput{script: []byte(e.BatchScript()), title: e.DefaultTitle()}
	if err := buildRequest(ctx, t.Call, s, request.Input{Command: request.Sbatch, Words: e.Options, Now: t.Factory.Now()}); err != nil {
		return nil, err
	}
	in, err := translationInput(t.Call, s)
	if err != nil {
		return nil, err
	}
	in.Suffix, in.Dir, in.User = e.Suffix, homeDirectory(t.Call, in.Dir), t.user
	in.Submitter = t.Factory.FindPermittedUser(ctx, t.namespace, t.user)
	result, err := translate.Job(in)
	if err != nil {
		return nil, err
	}
	for _, text := range append(s.warnings, result.Warnings...) {
		t.PrintNotef("warning", "line %d: %s", e.Line, text)
	}
	p := &planned{cronJob: t.newCronJob(e, result.Job), with: []client.Object{result.ConfigMap}}
	if result.Secret != nil {
		p.with = append(p.with, result.Secret)
	}
	return p, nil
}

// newCronJob creates a CronJob from a translated job.
func (t *crontab) newCronJob(e *scrontab.Entry, job *batchv1alpha1.Job) *batchv1alpha1.CronJob {
	annotations := map[string]string{}
	if user := job.Annotations[keys.User]; user != "" {
		annotations[keys.User] = user
	}
	return &batchv1alpha1.CronJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "CronJob"},
		ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: job.Name, Labels: t.objectLabels(), Annotations: annotations},
		Spec: batchv1alpha1.CronJobSpec{
			Schedule: e.Schedule, ConcurrencyPolicy: batchv1alpha1.ForbidConcurrent,
			JobTemplate:                batchv1alpha1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: job.Labels, Annotations: job.Annotations}, Spec: job.Spec},
			SuccessfulJobsHistoryLimit: new(int32(historyLimit)), FailedJobsHistoryLimit: new(int32(historyLimit)),
		},
	}
}

// applyEntries creates the wanted CronJobs that do not exist yet and deletes the table's CronJobs that are no longer
// wanted. It validates the new CronJobs before it changes anything. It does not change existing CronJobs.
func (t *crontab) applyEntries(ctx context.Context, wanted []*planned) error {
	there, err := t.listExistingEntries(ctx)
	if err != nil {
		return err
	}
	isThere := func(p *planned) bool {
		return slices.ContainsFunc(there, func(c batchv1alpha1.CronJob) bool { return c.Name == p.cronJob.Name })
	}
	fresh := slices.DeleteFunc(slices.Clone(wanted), isThere)
	for _, p := range fresh {
		if err := t.client.Create(ctx, p.cronJob.DeepCopy(), client.DryRunAll); err != nil {
			return t.failedEntryError(p, err)
		}
	}
	for i, p := range fresh {
		if err := t.createEntry(ctx, p); err != nil {
			for _, made := range fresh[:i+1] {
				_ = t.client.Delete(ctx, made.cronJob) // the error that made this necessary is reported instead
			}
			return t.failedEntryError(p, err)
		}
		t.noteChange("added", p.cronJob)
	}
	for i := range there {
		old := &there[i]
		if slices.ContainsFunc(wanted, func(p *planned) bool { return p.cronJob.Name == old.Name }) {
			continue
		}
		if err := t.deleteEntry(ctx, old); err != nil {
			return err
		}
		t.noteChange("removed", old)
	}
	return nil
}

// listExistingEntries returns the current CronJobs of the table.
func (t *crontab) listExistingEntries(ctx context.Context) ([]batchv1alpha1.CronJob, error) {
	var all []batchv1alpha1.CronJob
	page := &batchv1alpha1.CronJobList{}
	err := cli.ListPages(ctx, t.client, page, func() error {
		all = append(all, page.Items...)
		return nil
	}, client.InNamespace(t.namespace), client.MatchingLabels(t.objectLabels()))
	return all, err
}

// noteChange prints a note about a change if -v is specified.
func (t *crontab) noteChange(what string, c *batchv1alpha1.CronJob) {
	if t.Parsed.Has("verbose") {
		t.PrintNotef("note", "%s: %s, %s", what, c.Name, c.Spec.Schedule)
	}
}

func (t *crontab) failedEntryError(p *planned, err error) error {
	human := cli.HumanizeError(err, t.Factory.DescribeConnection())
	return usererror.Errorf(program.AdaptHint(human.Hint), "There was an issue with the entry %q of the crontab: %s", p.cronJob.Spec.Schedule, human.What)
}

// createEntry creates a CronJob and the objects that its jobs read. The CronJob owns these objects.
func (t *crontab) createEntry(ctx context.Context, p *planned) error {
	if err := t.client.Create(ctx, p.cronJob); err != nil {
		return err
	}
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(p.cronJob, batchv1alpha1.GroupVersion.WithKind("CronJob"))}
	for _, object := range p.with {
		object.SetOwnerReferences(owner)
		if err := t.client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// deleteEntry deletes a CronJob. It keeps the CronJob's jobs and the objects that they read.
func (t *crontab) deleteEntry(ctx context.Context, c *batchv1alpha1.CronJob) error {
	owners, err := t.jobsOfEntry(ctx, c)
	if err != nil {
		return err
	}
	if len(owners) == 0 {
		return t.client.Delete(ctx, c, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	for _, object := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
		err := t.client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name + translate.ObjectSuffix}, object)
		if err == nil {
			object.SetOwnerReferences(owners)
			err = t.client.Update(ctx, object)
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return t.client.Delete(ctx, c, client.PropagationPolicy(metav1.DeletePropagationOrphan))
}

// jobsOfEntry returns owner references to the jobs that a CronJob created.
func (t *crontab) jobsOfEntry(ctx context.Context, c *batchv1alpha1.CronJob) ([]metav1.OwnerReference, error) {
	var owners []metav1.OwnerReference
	page := &batchv1alpha1.JobList{}
	err := cli.ListPages(ctx, t.client, page, func() error {
		for i := range page.Items {
			if job := &page.Items[i]; metav1.IsControlledBy(job, c) {
				owners = append(owners, metav1.OwnerReference{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: job.Name, UID: job.UID})
			}
		}
		return nil
	}, client.InNamespace(c.Namespace))
	return owners, err
}

// crontab is a user's table of periodic jobs.
type crontab struct {
	*program.Call
	user, namespace string
	client          client.WithWatch
	// kept is the ConfigMap that stores the table. It is nil if the user has no table.
	kept *corev1.ConfigMap
}

// configMapName returns the name of the ConfigMap that stores the table.
func (t *crontab) configMapName() string { return "scrontab-" + scrontab.ObjectName(t.user) }

func (t *crontab) objectLabels() map[string]string {
	return map[string]string{scrontab.Label: scrontab.ObjectName(t.user)}
}

// homeDirectory returns the working directory for the jobs. This is the home directory or, if HOME is not set, the
// value of otherwise.
func homeDirectory(c *program.Call, otherwise string) string {
	return cmp.Or(c.Factory.Streams.Env("HOME"), otherwise)
}

// refusedInTable lists the options of sbatch that are rejected in an entry.
var refusedInTable = []string{"begin", "wait", "test-only", "parsable", "clusters"}

// forbiddenOption returns the first option of an entry that is not allowed in a table, or "".
func forbiddenOption(given []getopt.Given) string {
	at := slices.IndexFunc(given, func(g getopt.Given) bool { return slices.Contains(refusedInTable, g.Name) })
	if at < 0 {
		return ""
	}
	return given[at].Name
}
