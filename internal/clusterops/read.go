package clusterops

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/jobstatus"
)

// ReadManifest returns an object as YAML, without its managed fields. The kind is Job, Queue, Node,
// Pod, PodGroup, CronJob or JobFlow.
func (c *Cluster) ReadManifest(ctx context.Context, kind, namespace, name string) (string, error) {
	var object client.Object
	group := corev1.SchemeGroupVersion
	switch kind {
	case "Job":
		object, group = &batchv1alpha1.Job{}, batchv1alpha1.GroupVersion
	case "Queue":
		object, group = &schedulingv1beta1.Queue{}, schedulingv1beta1.GroupVersion
	case "PodGroup":
		object, group = &schedulingv1beta1.PodGroup{}, schedulingv1beta1.GroupVersion
	case "CronJob":
		object, group = &batchv1alpha1.CronJob{}, batchv1alpha1.GroupVersion
	case "JobFlow":
		object, group = &flowv1alpha1.JobFlow{}, flowv1alpha1.GroupVersion
	case "Node":
		object = &corev1.Node{}
	case "Pod":
		object = &corev1.Pod{}
	default:
		return "", fmt.Errorf("cannot show objects of kind %s", kind)
	}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return "", err
	}
	object.SetManagedFields(nil)
	object.GetObjectKind().SetGroupVersionKind(group.WithKind(kind))
	text, err := yaml.Marshal(object)
	return string(text), err
}

// ReadJobSheet reads a job, its PodGroup, and the events about these and its pods. If known contains the UIDs of the
// pods, it reads the pods only when the job and its PodGroup do not explain enough by themselves, because there may be
// thousands of pods, and each is large.
func (c *Cluster) ReadJobSheet(ctx context.Context, namespace, name string, known ...types.UID) (*jobstatus.Sheet, error) {
	job := &batchv1alpha1.Job{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, job); err != nil {
		return nil, err
	}
	group, err := PodGroupOfJob(ctx, c.Client, job)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	sheet := &jobstatus.Sheet{Job: job, Group: group, Unreadable: err != nil}
	if _, enough := jobstatus.NewReportWithoutPods(sheet); !enough || len(known) == 0 {
		return CompleteSheet(ctx, c.Client, sheet, true)
	}
	about := []types.UID{job.UID}
	if group != nil {
		about = append(about, group.UID)
	}
	sheet.Events, err = eventsOfJob(ctx, c.Client, job, append(about, known...))
	return sheet, err
}

// CompleteSheet adds the pods and, if events is set, the events to a sheet that has the job and its PodGroup. It skips
// objects that the user may not read.
func CompleteSheet(ctx context.Context, c client.Reader, s *jobstatus.Sheet, events bool) (*jobstatus.Sheet, error) {
	var err error
	if s.Pods, err = PodsOfJob(ctx, c, s.Job); err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	if !events {
		return s, nil
	}
	about := []types.UID{s.Job.UID}
	if s.Group != nil {
		about = append(about, s.Group.UID)
	}
	for _, pod := range s.Pods {
		about = append(about, pod.UID)
	}
	s.Events, err = eventsOfJob(ctx, c, s.Job, about)
	return s, err
}

// eventsOfJob returns the events about a job and all its current and former objects. If the job lost pods, it also
// matches the names of objects, which requires reading all events in the namespace.
func eventsOfJob(ctx context.Context, c client.Reader, job *batchv1alpha1.Job, about []types.UID) ([]corev1.Event, error) {
	if !jobstatus.HasLostPods(job) {
		return eventsAboutUIDs(ctx, c, job.Namespace, about, nil)
	}
	return eventsAboutUIDs(ctx, c, job.Namespace, about, func(e *corev1.Event) bool { return jobstatus.IsAbout(job, e) })
}

// PodsOfJob returns the pods of a job, sorted by task and index.
func PodsOfJob(ctx context.Context, c client.Reader, job *batchv1alpha1.Job) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	page := &corev1.PodList{}
	err := listInPages(ctx, c, page, func() {
		for i := range page.Items {
			pods = append(pods, page.Items[i].DeepCopy())
		}
	}, client.InNamespace(job.Namespace), client.MatchingLabels{keys.JobName: job.Name})
	jobstatus.SortPods(job, pods)
	return pods, err
}

// pageSize is the maximum number of objects per list request.
const pageSize = 500

// listInPages lists objects page by page into list, and calls visit after each page.
func listInPages(ctx context.Context, c client.Reader, list client.ObjectList, visit func(), options ...client.ListOption) error {
	for more := ""; ; {
		if err := c.List(ctx, list, append(slices.Clone(options), client.Limit(pageSize), client.Continue(more))...); err != nil {
			return err
		}
		visit()
		if more = list.GetContinue(); more == "" {
			return nil
		}
	}
}

// PodGroupOfJob returns the PodGroup of a job, or nil if it does not find one. It tries the two names that the PodGroup
// of a job can have and checks that the job owns the PodGroup.
func PodGroupOfJob(ctx context.Context, c client.Reader, job *batchv1alpha1.Job) (*schedulingv1beta1.PodGroup, error) {
	for _, name := range []string{job.Name + "-" + string(job.UID), job.Name} {
		group := &schedulingv1beta1.PodGroup{}
		err := c.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: name}, group)
		if err == nil && isOwnedByUID(group, job.UID) {
			return group, nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return nil, nil
}

// PodGroupOfJobNamed returns the PodGroup of the job with this name. It reads the job first, because the group's own
// name contains the job's UID. It returns nil if the job does not exist or has no PodGroup.
func PodGroupOfJobNamed(ctx context.Context, c client.Reader, job types.NamespacedName) (*schedulingv1beta1.PodGroup, error) {
	owner := &batchv1alpha1.Job{}
	if err := c.Get(ctx, job, owner); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return PodGroupOfJob(ctx, c, owner)
}

func isOwnedByUID(object client.Object, uid types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == uid })
}

// maxAskedOneByOne is the maximum number of objects whose events are requested one by one. For more objects, one
// request lists all events in the namespace. The server scans all events for each request, but a selective request
// transfers less.
const maxAskedOneByOne = 5

// EventsAboutObjects returns the events about objects, oldest first. It matches the UIDs of the objects, so that events
// about earlier objects with the same name are excluded. It returns nil if the user may not read events.
func EventsAboutObjects(ctx context.Context, c client.Reader, namespace string, about ...client.Object) ([]corev1.Event, error) {
	uids := make([]types.UID, len(about))
	for i, object := range about {
		uids[i] = object.GetUID()
	}
	return eventsAboutUIDs(ctx, c, namespace, uids, nil)
}

// eventsAboutUIDs returns the events about the objects with the given UIDs, and the events that match also, which may
// be nil.
func eventsAboutUIDs(ctx context.Context, c client.Reader, namespace string, about []types.UID, also func(*corev1.Event) bool) ([]corev1.Event, error) {
	wanted := make(map[types.UID]bool, len(about))
	questions := make([]fields.Selector, 0, maxAskedOneByOne)
	for _, uid := range about {
		wanted[uid] = true
		questions = append(questions, fields.OneTermEqualSelector("involvedObject.uid", string(uid)))
	}
	if len(questions) > maxAskedOneByOne || also != nil {
		questions = []fields.Selector{fields.Everything()}
	}
	var events []corev1.Event
	var err error
	page := &corev1.EventList{}
	for i := 0; i < len(questions) && err == nil; i++ {
		err = listInPages(ctx, c, page, func() {
			for i := range page.Items {
				if e := &page.Items[i]; wanted[e.InvolvedObject.UID] || (also != nil && also(e)) {
					events = append(events, page.Items[i])
				}
			}
		}, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: questions[i]})
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return jobstatus.EventTime(&a).Time.Compare(jobstatus.EventTime(&b).Time) })
	return events, nil
}
