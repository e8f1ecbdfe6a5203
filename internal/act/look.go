package act

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/account"
)

// Manifest is an object as YAML, without who wrote which field. The kind is Job, Queue, Node, Pod or PodGroup.
func (c *Cluster) Manifest(ctx context.Context, kind, namespace, name string) (string, error) {
	var object client.Object
	group := corev1.SchemeGroupVersion
	switch kind {
	case "Job":
		object, group = &batchv1alpha1.Job{}, batchv1alpha1.GroupVersion
	case "Queue":
		object, group = &schedulingv1beta1.Queue{}, schedulingv1beta1.GroupVersion
	case "PodGroup":
		object, group = &schedulingv1beta1.PodGroup{}, schedulingv1beta1.GroupVersion
	case "Node":
		object = &corev1.Node{}
	case "Pod":
		object = &corev1.Pod{}
	default:
		return "", fmt.Errorf("no manifest of kind %s", kind)
	}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return "", err
	}
	object.SetManagedFields(nil)
	object.GetObjectKind().SetGroupVersionKind(group.WithKind(kind))
	text, err := yaml.Marshal(object)
	return string(text), err
}

// Sheet reads all that is told about a job: the whole of it, its PodGroup, and the events about these and its pods. Pods whose UIDs are known are
// read only where the job and its PodGroup do not tell enough by themselves: there may be thousands, and each is large.
func (c *Cluster) Sheet(ctx context.Context, namespace, name string, known ...types.UID) (*account.Sheet, error) {
	job := &batchv1alpha1.Job{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, job); err != nil {
		return nil, err
	}
	group, err := GroupOf(ctx, c.Client, job)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	sheet := &account.Sheet{Job: job, Group: group, Unreadable: err != nil}
	if _, enough := account.Alone(sheet); !enough || len(known) == 0 {
		return SheetAround(ctx, c.Client, sheet, true)
	}
	about := []types.UID{job.UID}
	if group != nil {
		about = append(about, group.UID)
	}
	sheet.Events, err = eventsOf(ctx, c.Client, job, append(about, known...))
	return sheet, err
}

// SheetAround adds to a sheet, of which the job and its PodGroup are known, the pods and, when they are wanted, the events about
// all of these. Who may not read one of them gets the rest.
func SheetAround(ctx context.Context, c client.Reader, s *account.Sheet, events bool) (*account.Sheet, error) {
	var err error
	if s.Pods, err = PodsOf(ctx, c, s.Job); err != nil && !apierrors.IsForbidden(err) {
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
	s.Events, err = eventsOf(ctx, c, s.Job, about)
	return s, err
}

// eventsOf collects the events about a job and everything that it has or had. Only a job that lost pods is asked for by name: that takes all
// events of its namespace.
func eventsOf(ctx context.Context, c client.Reader, job *batchv1alpha1.Job, about []types.UID) ([]corev1.Event, error) {
	if !account.LostPods(job) {
		return eventsAbout(ctx, c, job.Namespace, about, nil)
	}
	return eventsAbout(ctx, c, job.Namespace, about, func(e *corev1.Event) bool { return account.IsAbout(job, e) })
}

// PodsOf lists the pods of a job, in the order of its tasks and of their index.
func PodsOf(ctx context.Context, c client.Reader, job *batchv1alpha1.Job) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	page := &corev1.PodList{}
	err := pages(ctx, c, page, func() {
		for i := range page.Items {
			pods = append(pods, page.Items[i].DeepCopy())
		}
	}, client.InNamespace(job.Namespace), client.MatchingLabels{keys.JobName: job.Name})
	account.SortPods(job, pods)
	return pods, err
}

// pageSize is how many objects one request lists.
const pageSize = 500

// pages lists page by page into list, and calls visit after each.
func pages(ctx context.Context, c client.Reader, list client.ObjectList, visit func(), options ...client.ListOption) error {
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

// GroupOf finds the PodGroup of a job: by its usual name, else by its owner. It is nil when there is none.
func GroupOf(ctx context.Context, c client.Reader, job *batchv1alpha1.Job) (*schedulingv1beta1.PodGroup, error) {
	for _, name := range []string{job.Name + "-" + string(job.UID), job.Name} {
		group := &schedulingv1beta1.PodGroup{}
		err := c.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: name}, group)
		if err == nil && ownedBy(group, job.UID) {
			return group, nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return nil, nil
}

// GroupOfJobNamed finds the PodGroup of a job by the job's name: the group's own name ends with the job's UID. It returns
// nil if the job does not exist or has no PodGroup.
func GroupOfJobNamed(ctx context.Context, c client.Reader, job types.NamespacedName) (*schedulingv1beta1.PodGroup, error) {
	owner := &batchv1alpha1.Job{}
	if err := c.Get(ctx, job, owner); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return GroupOf(ctx, c, owner)
}

func ownedBy(object client.Object, uid types.UID) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID == uid {
			return true
		}
	}
	return false
}

// maxAskedOneByOne is the number of objects whose events are asked for one by one; of more all of the namespace are gone through once. The server
// goes through all of them for each question, but hands out less.
const maxAskedOneByOne = 5

// EventsAbout collects the events about objects, oldest first. They are found by the UID of what they are about,
// so namesakes of the past stay out. Who may not read events gets none.
func EventsAbout(ctx context.Context, c client.Reader, namespace string, about ...client.Object) ([]corev1.Event, error) {
	uids := make([]types.UID, len(about))
	for i, object := range about {
		uids[i] = object.GetUID()
	}
	return eventsAbout(ctx, c, namespace, uids, nil)
}

// eventsAbout collects the events about the objects with some UIDs, and those that also takes, which may be nil.
func eventsAbout(ctx context.Context, c client.Reader, namespace string, about []types.UID, also func(*corev1.Event) bool) ([]corev1.Event, error) {
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
		err = pages(ctx, c, page, func() {
			for i := range page.Items {
				if e := &page.Items[i]; wanted[e.InvolvedObject.UID] || also != nil && also(e) {
					events = append(events, page.Items[i])
				}
			}
		}, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: questions[i]})
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return account.EventTime(&a).Time.Compare(account.EventTime(&b).Time) })
	return events, nil
}
