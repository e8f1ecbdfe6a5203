// Package clusterdata reads the objects that Slurm's commands show and change: jobs with their PodGroups and pods,
// queues, nodes, priority classes and the site's profile. It also waits for jobs to change.
//
//	In:   references to jobs, a selection of the data to read (Wants)
//	Out:  the data (View), notes about data that the user may not read
//
// # Invariants
//
//   - Named jobs are read one by one or by label. Reading them never lists all jobs in full.
//
// # Concurrency
//
//   - Different kinds of objects are read concurrently. A View does not change after ReadView has returned it, unless
//     the caller reads more data into it.
package clusterdata

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// beside describes a kind of object that is read in addition to the jobs: its plural, where the objects are, and
// which information is missing without them.
type beside struct {
	kind, where, lost string
	read              func(context.Context) error
}

// ReadView reads the jobs and the additional data that w selects. If the user is not allowed to list jobs in all
// namespaces, it reads only one namespace.
func ReadView(ctx context.Context, c *program.Call, w Wants) (*View, error) {
	cl, err := c.Factory.Client()
	if err != nil {
		return nil, err
	}
	v := &View{Client: cl}
	if v.rest, err = c.Factory.RESTConfig(); err != nil {
		return nil, err
	}
	if err := restrictNamespace(c, v); err != nil {
		return nil, err
	}
	if v.home, err = c.Factory.Namespace(); err != nil {
		return nil, err
	}
	busy := c.Factory.Streams.StartBusyLine("reading jobs")
	defer busy.RemoveLine()
	// If the user has access to only one namespace, the first attempt fails because it reads all namespaces. Its notes
	// are then discarded, because they do not apply to the second attempt.
	var notes []string
	v.note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	err = v.readAll(ctx, w)
	if apierrors.IsForbidden(err) && v.namespace == "" {
		notes, v.namespace = nil, v.home
		c.PrintNoteOnce("you are not allowed to list jobs in all namespaces: showing only namespace %s", v.namespace)
		err = v.readAll(ctx, w)
	}
	v.note = c.PrintNoteOnce
	for _, note := range notes {
		v.note("%s", note)
	}
	return v, err
}

// readAll reads jobs and additional data. If jobs are named, it reads them first, because the additional data is then
// read only for these jobs. Otherwise, it reads all jobs concurrently with the additional data.
func (v *View) readAll(ctx context.Context, w Wants) error {
	if len(w.Named) > 0 {
		if err := v.readJobs(ctx, w.Named); err != nil {
			return err
		}
		return v.readAdditional(ctx, w)
	}
	var problem error
	var wait sync.WaitGroup
	if w.Facts {
		// Queues and priorities are read concurrently with the facts. If the daemon does not answer, the remaining data
		// is read from the API server.
		wait.Go(func() { problem = v.readFacts(ctx, w) })
		err := v.readAdditional(ctx, Wants{})
		if wait.Wait(); problem == nil || err != nil || ctx.Err() != nil {
			return cmp.Or(err, ctx.Err())
		}
		w.known = true
	}
	wait.Go(func() { problem = v.readJobs(ctx, nil) })
	err := v.readAdditional(ctx, w)
	wait.Wait()
	if problem != nil {
		return problem
	}
	return err
}

// restrictNamespace restricts the view to one namespace if the user specified one.
func restrictNamespace(c *program.Call, v *View) error {
	if !c.Factory.NamespaceGiven() {
		return nil
	}
	var err error
	v.namespace, err = c.Factory.Namespace()
	return err
}

// readJobs reads all jobs, or only the named ones. It selects jobs that are specified by number by their labels, and
// reads jobs that are specified by name one by one. It never lists all jobs to find the named ones, because programs
// often poll single jobs, even deleted ones.
func (v *View) readJobs(ctx context.Context, named []optionvalue.Job) error {
	v.Jobs = nil
	if len(named) == 0 {
		return v.listJobs(ctx, nil)
	}
	numbers := slices.DeleteFunc(slices.Clone(named), func(ref optionvalue.Job) bool { return ref.ID == 0 })
	if selector := matchingNumbers(numbers); selector != nil {
		if err := v.listJobs(ctx, named, selector); err != nil {
			return err
		}
	}
	for _, ref := range named {
		if ref.ID == 0 && !v.containsJob(ref) {
			if err := v.getJob(ctx, types.NamespacedName{Namespace: v.home, Name: ref.Name}); err != nil {
				return err
			}
		}
	}
	if left := slices.DeleteFunc(numbers, v.containsJob); len(left) > 0 {
		return v.readArraysByElement(ctx, left)
	}
	return nil
}

// matchingNumbers returns a list option that selects jobs by their numbers, or nil if no reference has a number.
func matchingNumbers(named []optionvalue.Job) client.ListOption {
	var numbers []string
	for _, ref := range named {
		numbers = append(numbers, batchv1alpha1.FormatJobID(ref.ID))
	}
	if len(numbers) == 0 {
		return nil
	}
	is, err := labels.NewRequirement(keys.JobID, selection.In, numbers)
	if err != nil {
		return nil
	}
	return client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*is)}
}

// containsJob reports whether the view contains the job that a reference refers to.
func (v *View) containsJob(ref optionvalue.Job) bool {
	return slices.ContainsFunc(v.Jobs, func(job *batchv1alpha1.Job) bool { return v.refersTo(ref, job) })
}

// CheckNames returns an error for the first job that is referenced by name and does not exist. It skips references by
// number, because such a job may have existed and been deleted.
func (v *View) CheckNames(refs []optionvalue.Job) error {
	for _, ref := range refs {
		if ref.ID == 0 && !v.containsJob(ref) {
			return v.MissingJobError(ref)
		}
	}
	return nil
}

// MissingJobError returns the error for a job that does not exist. References by name and by number have different
// hints, because a job with the number may have ended.
func (v *View) MissingJobError(ref optionvalue.Job) error {
	if ref.ID == 0 {
		return program.MissingJobError("specify a job number, or the name of a job in namespace "+v.home+"; sacct lists ended jobs", "%s: Invalid job id specified", ref)
	}
	return program.MissingJobError(fmt.Sprintf("if the job has ended, sacct -j %s shows it", ref), "Invalid job id specified")
}

func (v *View) listJobs(ctx context.Context, named []optionvalue.Job, options ...client.ListOption) error {
	page := &batchv1alpha1.JobList{}
	return cli.ListPages(ctx, v.Client, page, func() error {
		for i := range page.Items {
			job := &page.Items[i]
			if len(named) == 0 || slices.ContainsFunc(named, func(ref optionvalue.Job) bool { return v.refersTo(ref, job) }) {
				job.ManagedFields = nil
				v.Jobs = append(v.Jobs, job)
			}
		}
		page.Items = nil
		return nil
	}, append(options, client.InNamespace(v.namespace))...)
}

// readAdditional reads the additional data concurrently. If the user may not read some of the data, it prints a note
// about what is missing.
func (v *View) readAdditional(ctx context.Context, w Wants) error {
	const cluster = "the cluster"
	work := []beside{
		{"queues", cluster, "which partitions are closed or missing", v.ReadQueues},
		{"priority classes", cluster, "job priorities", v.readPriorities},
	}
	if w.known {
		work = nil
	}
	named, one, namespace := len(w.Named) > 0, (*batchv1alpha1.Job)(nil), v.namespace
	if named {
		namespace = v.commonNamespace(v.Jobs)
	}
	if named && len(v.Jobs) == 1 {
		one = v.Jobs[0]
	}
	// If no jobs are named, there may be jobs of every kind.
	mayInclude := func(wanted func(*batchv1alpha1.Job) bool) bool { return !named || slices.ContainsFunc(v.Jobs, wanted) }
	if w.Groups && mayInclude(func(job *batchv1alpha1.Job) bool { return !isInactive(job) }) {
		work = append(work, beside{"PodGroups", namespaceText(namespace), "why jobs are pending or when they start", func(ctx context.Context) error { return v.readGroups(ctx, namespace, one) }})
	}
	if w.Pods && mayInclude(func(job *batchv1alpha1.Job) bool { return w.Ended || !isInactive(job) }) {
		work = append(work, podsToRead(namespace, func(ctx context.Context) error { return v.readPods(ctx, namespace, one, w.Ended) }))
	}
	errs := make([]error, len(work))
	var wait sync.WaitGroup
	for i := range work {
		wait.Go(func() { errs[i] = work[i].read(ctx) })
	}
	wait.Wait()
	for i, err := range errs {
		if err := v.ignoreForbidden(work[i], err); err != nil {
			return err
		}
	}
	return nil
}

// podsToRead describes the pods of a namespace as additional data. read is the function that reads them.
func podsToRead(namespace string, read func(context.Context) error) beside {
	return beside{"pods", namespaceText(namespace), "the nodes of jobs or how jobs ended", read}
}

// namespaceText describes a namespace for use in a sentence. The empty namespace means all namespaces.
func namespaceText(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}

// commonNamespace returns the namespace that contains all of the jobs. If they are in different namespaces, or if there
// are no jobs, it returns the namespace of the view.
func (v *View) commonNamespace(jobs []*batchv1alpha1.Job) string {
	if len(jobs) == 0 || slices.ContainsFunc(jobs, func(job *batchv1alpha1.Job) bool { return job.Namespace != jobs[0].Namespace }) {
		return v.namespace
	}
	return jobs[0].Namespace
}

// ignoreForbidden prints a note and returns nil if the user may not read some of the data. It returns other errors
// unchanged.
func (v *View) ignoreForbidden(b beside, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		v.note("you are not allowed to list %s in %s: the output does not show %s", b.kind, b.where, b.lost)
		return nil
	case apierrors.IsNotFound(err):
		return nil // for example, a job without a PodGroup
	}
	return err
}

func isInactive(job *batchv1alpha1.Job) bool {
	switch job.Status.State.Phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted:
		return true
	}
	return false
}

// ReadQueues reads all queues.
func (v *View) ReadQueues(ctx context.Context) error {
	v.Queues = map[string]*schedulingv1beta1.Queue{}
	page := &schedulingv1beta1.QueueList{}
	err := cli.ListPages(ctx, v.Client, page, func() error {
		for i := range page.Items {
			v.Queues[page.Items[i].Name] = &page.Items[i]
		}
		page.Items = nil
		return nil
	})
	if err != nil {
		v.Queues = nil
	}
	return err
}

// readPriorities reads the values of the priority classes, and the global default.
func (v *View) readPriorities(ctx context.Context) error {
	v.priorities = map[string]int64{}
	page := &schedulingv1.PriorityClassList{}
	return cli.ListPages(ctx, v.Client, page, func() error {
		for _, class := range page.Items {
			v.priorities[class.Name] = int64(class.Value)
			if class.GlobalDefault {
				v.byDefault = int64(class.Value)
			}
		}
		page.Items = nil
		return nil
	})
}

// readGroups reads the PodGroup of a job or, if job is nil, all PodGroups of a namespace. The empty namespace means
// all namespaces.
func (v *View) readGroups(ctx context.Context, namespace string, job *batchv1alpha1.Job) error {
	v.groups = map[types.UID]*schedulingv1beta1.PodGroup{}
	if job != nil {
		group := &schedulingv1beta1.PodGroup{}
		err := v.Client.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: job.Name + "-" + string(job.UID)}, group)
		if err == nil {
			v.groups[job.UID] = group
		}
		return err
	}
	page := &schedulingv1beta1.PodGroupList{}
	return cli.ListPages(ctx, v.Client, page, func() error {
		for i := range page.Items {
			group := &page.Items[i]
			for _, owner := range group.OwnerReferences {
				v.groups[owner.UID] = group
			}
		}
		page.Items = nil
		return nil
	}, client.InNamespace(namespace))
}

// unended selects pods that have not ended.
var unended = fields.AndSelectors(
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)), fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)))

// readPods reads the pods of a job or, if job is nil, of all jobs in a namespace. The empty namespace means all
// namespaces. It omits pods that have ended unless ended is true.
func (v *View) readPods(ctx context.Context, namespace string, job *batchv1alpha1.Job, ended bool) error {
	options := []client.ListOption{client.InNamespace(namespace), client.HasLabels{keys.JobName}}
	if !ended {
		options = append(options, client.MatchingFieldsSelector{Selector: unended})
	}
	if job != nil {
		options[1] = client.MatchingLabels{keys.JobName: job.Name}
	}
	return v.listPods(ctx, options...)
}

func (v *View) listPods(ctx context.Context, options ...client.ListOption) error {
	v.Pods = map[types.NamespacedName][]*corev1.Pod{}
	page := &corev1.PodList{}
	err := cli.ListPages(ctx, v.Client, page, func() error {
		for i := range page.Items {
			pod := &page.Items[i]
			key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[keys.JobName]}
			v.Pods[key] = append(v.Pods[key], pod)
		}
		page.Items = nil
		return nil
	}, options...)
	v.podsRead = err == nil
	return err
}

// ReadPodsOfArrays reads the pods of running arrays unless they have already been read. They are needed because only
// the pods show which elements are running and which are waiting.
func (v *View) ReadPodsOfArrays(ctx context.Context) error {
	if v.podsRead {
		return nil
	}
	var arrays []*batchv1alpha1.Job
	var names []string
	for _, job := range v.Jobs {
		if a := job.Status.Array; a != nil && a.Running != "" {
			arrays, names = append(arrays, job), append(names, job.Name)
		}
	}
	if len(arrays) == 0 {
		return nil
	}
	var which client.ListOption = client.HasLabels{keys.JobName}
	if is, err := labels.NewRequirement(keys.JobName, selection.In, names); err == nil && len(names) <= 100 {
		which = client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*is)}
	}
	namespace := v.commonNamespace(arrays)
	read := podsToRead(namespace, func(ctx context.Context) error {
		return v.listPods(ctx, client.InNamespace(namespace), which, client.MatchingFieldsSelector{Selector: unended})
	})
	v.arraysOnly = true
	return v.ignoreForbidden(read, read.read(ctx))
}

// NewSource returns the data of one job in the view.
func NewSource(c *program.Call, v *View, job *batchv1alpha1.Job) *listrow.Source {
	s := &listrow.Source{Job: job, Group: v.groups[job.UID], Cluster: c.ClusterName(), Now: c.Factory.Now(), Priority: v.byDefault}
	if job.Spec.PriorityClassName != "" {
		s.Priority = v.priorities[job.Spec.PriorityClassName]
	}
	if v.Queues != nil {
		s.Queue = v.Queues[s.QueueName()]
		s.QueueMissing = s.Queue == nil
	}
	if pods, ok := v.recordedPods[job.UID]; ok {
		s.Pods, s.PodsRead = pods, true
		return s
	}
	if v.podsRead && (!v.arraysOnly || job.Status.Array != nil) {
		s.Pods, s.PodsRead = v.Pods[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}], true
	}
	return s
}

// AttemptRows returns the rows of all jobs in the view, each after those of its earlier attempts.
func AttemptRows(c *program.Call, v *View, each bool) []*listrow.Row {
	var rows []*listrow.Row
	for _, job := range v.Jobs {
		source := NewSource(c, v, job)
		list := append(listrow.AttemptRows(source, v.attemptsOf(job)), listrow.RowsOf(source, each)...)
		for i := range list {
			rows = append(rows, &list[i])
		}
	}
	return rows
}

// JobRows returns the rows of all jobs in the view.
func JobRows(c *program.Call, v *View, each bool) []*listrow.Row {
	var rows []*listrow.Row
	for _, job := range v.Jobs {
		list := listrow.RowsOf(NewSource(c, v, job), each)
		for i := range list {
			rows = append(rows, &list[i])
		}
	}
	return rows
}
