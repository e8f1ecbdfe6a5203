package events

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// subject is a kind of object that users can name in `vcctl events`.
type subject struct {
	words []string
	gvk   schema.GroupVersionKind
	// everywhere is true if the kind is cluster-scoped. Events about its objects are in the namespace default.
	everywhere bool
}

var subjects = []subject{
	{words: []string{"job", "jobs", "vj", "vcjob"}, gvk: batchv1alpha1.GroupVersion.WithKind("Job")},
	{words: []string{"podgroup", "podgroups", "pg"}, gvk: schedulingv1beta1.GroupVersion.WithKind("PodGroup")},
	{words: []string{"queue", "queues", "q"}, gvk: schedulingv1beta1.GroupVersion.WithKind("Queue"), everywhere: true},
	{words: []string{"pod", "pods", "po"}, gvk: corev1.SchemeGroupVersion.WithKind("Pod")},
	{words: []string{"node", "nodes", "no"}, gvk: corev1.SchemeGroupVersion.WithKind("Node"), everywhere: true},
	{words: []string{"jobflow", "jobflows", "jf"}, gvk: flowv1alpha1.GroupVersion.WithKind("JobFlow")},
	{words: []string{"jobtemplate", "jobtemplates", "jt"}, gvk: flowv1alpha1.GroupVersion.WithKind("JobTemplate")},
	{words: []string{"cronjob", "cronjobs", "cron", "cronvj"}, gvk: batchv1alpha1.GroupVersion.WithKind("CronJob")},
}

func subjectWords() []string {
	all := make([]string, len(subjects))
	for i := range subjects {
		all[i] = subjects[i].words[0]
	}
	return all
}

// reference identifies an object by kind and name.
type reference struct {
	subject    subject
	kind, name string
}

// parseReference parses KIND/NAME, KIND.GROUP/NAME as other commands print it, or the name of a job.
func parseReference(text string) (reference, error) {
	word, name, found := strings.Cut(text, "/")
	if !found {
		word, name = "job", text
	}
	word, _, _ = strings.Cut(strings.ToLower(word), ".")
	at := slices.IndexFunc(subjects, func(s subject) bool { return slices.Contains(s.words, word) })
	switch {
	case at < 0:
		hint := "kinds: " + strings.Join(subjectWords(), ", ")
		if near := cli.FindNearest(word, subjectWords()); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near+"/"+name, hint)
		}
		return reference{}, usererror.Errorf(hint, "%q: vc records no events about objects of kind %q", text, word)
	case name == "":
		return reference{}, usererror.Errorf("an example: job/train", "%q: the name is missing", text)
	}
	return reference{subjects[at], subjects[at].gvk.Kind, name}, nil
}

// newTopic returns a topic for the objects whose events the user requested.
func (o *options) newTopic(ctx context.Context, c client.Client) (*topic, error) {
	namespace, err := o.f.Namespace()
	if err != nil {
		return nil, err
	}
	t := &topic{namespace: namespace}
	switch {
	case o.sel.Selector != "":
		return t, o.addSelected(ctx, c, t)
	case len(o.about) == 0:
		t.all = true
		if o.sel.AllNamespaces {
			t.namespace = ""
		}
		return t, nil
	}
	namespaces := map[string]bool{}
	t.clusterWide = true
	for _, text := range o.about {
		r, err := parseReference(text)
		if err != nil {
			return nil, err
		}
		namespaces[eventNamespace(r, namespace)] = true
		t.clusterWide = t.clusterWide && r.subject.everywhere
		if err := o.addObject(ctx, c, t, r, namespace); err != nil {
			return nil, err
		}
	}
	t.namespace = ""
	if len(namespaces) == 1 {
		for one := range namespaces {
			t.namespace = one
		}
	}
	return t, nil
}

// eventNamespace returns the namespace of the events about an object.
func eventNamespace(r reference, namespace string) string {
	if r.subject.everywhere {
		return metav1.NamespaceDefault
	}
	return namespace
}

// addObject adds an object and the objects that belong to it to the topic.
func (o *options) addObject(ctx context.Context, c client.Client, t *topic, r reference, namespace string) error {
	key := types.NamespacedName{Namespace: namespace, Name: r.name}
	if r.subject.everywhere {
		key.Namespace = ""
	}
	made, err := cli.Scheme().New(r.subject.gvk)
	if err != nil {
		return err
	}
	object, ok := made.(client.Object)
	if !ok {
		return fmt.Errorf("%s is not an object", r.kind)
	}
	err = c.Get(ctx, key, object)
	if cli.IsMissing(err) && r.kind == "PodGroup" {
		group, lookupErr := clusterops.PodGroupOfJobNamed(ctx, c, key)
		if lookupErr != nil {
			return lookupErr
		}
		if group != nil {
			t.uids = append(t.uids, group.UID)
			return nil
		}
	}
	if cli.IsMissing(err) {
		return o.addDeleted(ctx, c, t, r, eventNamespace(r, namespace), err)
	}
	if err != nil {
		return err
	}
	t.uids = append(t.uids, object.GetUID())
	return o.addDependents(ctx, c, t, object)
}

// addDependents adds the objects that belong to an object.
func (o *options) addDependents(ctx context.Context, c client.Client, t *topic, object client.Object) error {
	switch object := object.(type) {
	case *batchv1alpha1.Job:
		t.jobs = append(t.jobs, client.ObjectKeyFromObject(object))
		if jobstatus.HasLostPods(object) {
			t.losers = append(t.losers, object)
		}
		group, pods, err := lookup.ReadRelated(ctx, c, object)
		if group != nil {
			t.uids = append(t.uids, group.UID)
		}
		for _, pod := range pods {
			t.uids = append(t.uids, pod.UID)
		}
		return err
	case *flowv1alpha1.JobFlow:
		return o.addJobs(ctx, c, t, client.InNamespace(object.Namespace), client.MatchingLabels{keys.CreatedByJobFlow: object.Namespace + "." + object.Name})
	case *batchv1alpha1.CronJob:
		for i, active := range object.Status.Active {
			t.uids = append(t.uids, active.UID)
			one := &batchv1alpha1.Job{}
			if i < mostAsked && c.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: active.Name}, one) == nil && one.UID == active.UID {
				if err := o.addDependents(ctx, c, t, one); err != nil {
					return err
				}
			}
		}
	case *corev1.Node:
		t.uids = append(t.uids, types.UID(object.Name)) // kubelets use the node's name as the UID
	}
	return nil
}

// addDeleted adds a deleted object if there are events about an object with its name.
func (o *options) addDeleted(ctx context.Context, c client.Client, t *topic, r reference, namespace string, cause error) error {
	past := &topic{namespace: namespace, past: []reference{r}}
	if found, _, err := past.fetchEvents(ctx, c); err == nil && len(found) > 0 {
		o.f.Warnf("%s %q no longer exists; showing the events about deleted objects with this name", r.subject.words[0], r.name)
		t.past = append(t.past, r)
		return nil
	}
	names, err := o.f.ListNames(ctx, r.subject.gvk, !r.subject.everywhere)
	if err != nil {
		names = nil
	}
	where := namespace
	if r.subject.everywhere {
		where = ""
	}
	missing := cli.NotFoundError(r.subject.words[0], r.name, where, names)
	missing.Err = cause
	if missing.Hint == "" {
		missing.Hint = "KIND/NAME; kinds: " + strings.Join(subjectWords(), ", ")
	}
	return missing
}

// addSelected adds the jobs that match the label selector.
func (o *options) addSelected(ctx context.Context, c client.Client, t *topic) error {
	labels, err := cli.ParseSelector(o.sel.Selector)
	if err != nil {
		return err
	}
	if o.sel.AllNamespaces {
		t.namespace = ""
	}
	return o.addJobs(ctx, c, t, client.InNamespace(t.namespace), labels)
}

// addJobs adds jobs and, for the first mostJobs of them, the objects that belong to them.
func (o *options) addJobs(ctx context.Context, c client.Client, t *topic, options ...client.ListOption) error {
	jobs, err := cli.ListObjects[*batchv1alpha1.Job](ctx, c, &batchv1alpha1.JobList{}, options...)
	if err != nil {
		return err
	}
	for i, one := range jobs {
		t.uids = append(t.uids, one.UID)
		if i >= mostJobs {
			continue
		}
		if err := o.addDependents(ctx, c, t, one); err != nil {
			return err
		}
	}
	return nil
}

// mostJobs is the maximum number of jobs whose PodGroups and pods are read.
const mostJobs = 100

// completeObjects offers kinds and, after a kind has been typed, names of objects of that kind.
func (o *options) completeObjects(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	word, _, found := strings.Cut(prefix, "/")
	if !found {
		var kinds []string
		for _, kind := range subjectWords() {
			if strings.HasPrefix(kind, prefix) {
				kinds = append(kinds, kind+"/")
			}
		}
		return kinds, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	r, err := parseReference(word + "/x")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, directive := o.f.CompleteKind(r.subject.gvk, !r.subject.everywhere)(nil, nil, strings.TrimPrefix(prefix, word+"/"))
	for i := range names {
		names[i] = word + "/" + names[i]
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), directive
}
