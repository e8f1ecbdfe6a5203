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

// Sheet reads all that is told about a job: the whole of it, its PodGroup, pods and events.
func (c *Cluster) Sheet(ctx context.Context, namespace, name string) (*account.Sheet, error) {
	s := &account.Sheet{Job: &batchv1alpha1.Job{}}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s.Job); err != nil {
		return nil, err
	}
	var err error
	if s.Group, err = GroupOf(ctx, c.Client, s.Job); apierrors.IsForbidden(err) {
		s.Unreadable = true
	} else if err != nil {
		return nil, err
	}
	pods := &corev1.PodList{}
	if err := c.Client.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{keys.JobName: name}); err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	about := []client.Object{s.Job}
	if s.Group != nil {
		about = append(about, s.Group)
	}
	for i := range pods.Items {
		s.Pods = append(s.Pods, &pods.Items[i])
	}
	account.SortPods(s.Job, s.Pods)
	for _, pod := range s.Pods {
		about = append(about, pod)
	}
	s.Events, err = EventsAbout(ctx, c.Client, namespace, about...)
	return s, err
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

func ownedBy(object client.Object, uid types.UID) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID == uid {
			return true
		}
	}
	return false
}

// maxAskedOneByOne is the number of objects whose events are asked for one by one, behind the first.
const maxAskedOneByOne = 20

// EventsAbout collects the events about objects, oldest first. They are found by the UID of what they are about,
// so namesakes of the past stay out. Who may not read events gets none.
func EventsAbout(ctx context.Context, c client.Reader, namespace string, about ...client.Object) ([]corev1.Event, error) {
	var events []corev1.Event
	for _, object := range about[:min(len(about), maxAskedOneByOne+1)] {
		page := &corev1.EventList{}
		selector := fields.OneTermEqualSelector("involvedObject.uid", string(object.GetUID()))
		err := c.List(ctx, page, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: selector})
		if apierrors.IsForbidden(err) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, page.Items...)
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return account.EventTime(&a).Time.Compare(account.EventTime(&b).Time) })
	return events, nil
}
