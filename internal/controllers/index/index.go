// Package index defines the indexes of the manager's cache, which let a reconcile read only the objects that it
// needs.
package index

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Names of the indexes.
const (
	PodController = "vc.controllerUID" // pods by the UID of their controller
	CommandTarget = "vc.target"        // commands by TargetValue(kind, name)
	GroupQueue    = "vc.queue"         // PodGroups by queue
	QueueParent   = "vc.parent"        // queues by parent; queues without a parent are under root
	JobName       = "vc.jobName"       // jobs by the references that a dependency may contain; see ReferenceValue
	JobTitle      = "vc.jobTitle"      // jobs by TitleValue
	JobAwaits     = "vc.jobAwaits"     // jobs by the jobs that they wait for, as ReferenceValue or TitleValue
	JobController = "vc.jobController" // jobs by the UID of their controller: a CronJob or a JobFlow
	JobTemplate   = "vc.jobTemplate"   // jobs by the JobTemplate from which they were created, as namespace.name
)

// Index describes an index: the kind of object, the name of the index, and the function that computes its values.
type Index struct {
	Object client.Object
	Name   string
	Values client.IndexerFunc
}

// All returns all indexes.
func All() []Index {
	return []Index{
		{&corev1.Pod{}, PodController, func(o client.Object) []string {
			if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
				return []string{string(owner.UID)}
			}
			return nil
		}},
		{&busv1alpha1.Command{}, CommandTarget, func(o client.Object) []string {
			if target := o.(*busv1alpha1.Command).TargetObject; target != nil {
				return []string{TargetValue(target.Kind, target.Name)}
			}
			return nil
		}},
		{&batchv1alpha1.Job{}, JobName, func(o client.Object) []string { return referenceValues(o.(*batchv1alpha1.Job)) }},
		{&batchv1alpha1.Job{}, JobTitle, func(o client.Object) []string { return []string{TitleValue(o.(*batchv1alpha1.Job))} }},
		{&batchv1alpha1.Job{}, JobAwaits, func(o client.Object) []string { return awaitedValues(o.(*batchv1alpha1.Job)) }},
		{&batchv1alpha1.Job{}, JobController, func(o client.Object) []string {
			if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
				return []string{string(owner.UID)}
			}
			return nil
		}},
		{&batchv1alpha1.Job{}, JobTemplate, func(o client.Object) []string {
			if template := TemplateOfJob(o); template != "" {
				return []string{template}
			}
			return nil
		}},
		{&schedulingv1beta1.PodGroup{}, GroupQueue, func(o client.Object) []string { return []string{QueueOfPodGroup(o.(*schedulingv1beta1.PodGroup))} }},
		{&schedulingv1beta1.Queue{}, QueueParent, func(o client.Object) []string {
			q := o.(*schedulingv1beta1.Queue)
			switch {
			case q.Name == keys.RootQueue:
				return nil
			case q.Spec.Parent == "":
				return []string{keys.RootQueue}
			}
			return []string{q.Spec.Parent}
		}},
	}
}

// IsJobCommand reports whether a command is for a Job.
func IsJobCommand(c *busv1alpha1.Command) bool {
	return isCommandFor(c, batchv1alpha1.GroupVersion.WithKind("Job"))
}

// IsQueueCommand reports whether a command is for a Queue.
func IsQueueCommand(c *busv1alpha1.Command) bool {
	return isCommandFor(c, schedulingv1beta1.GroupVersion.WithKind("Queue"))
}

func isCommandFor(c *busv1alpha1.Command, kind schema.GroupVersionKind) bool {
	return c.TargetObject != nil && c.TargetObject.Kind == kind.Kind && c.TargetObject.APIVersion == kind.GroupVersion().String()
}

// TargetValue returns the value of the index CommandTarget for an object.
func TargetValue(kind, name string) string { return kind + "/" + name }

// QueueOfPodGroup returns the queue of a PodGroup.
func QueueOfPodGroup(group *schedulingv1beta1.PodGroup) string {
	if group.Spec.Queue == "" {
		return keys.DefaultQueue
	}
	return group.Spec.Queue
}

// CompareAge compares objects by creation time and, if they were created in the same second, by resource version.
func CompareAge(x, y client.Object) int {
	a, b := x.GetCreationTimestamp(), y.GetCreationTimestamp()
	return cmp.Or(a.Compare(b.Time), cmp.Compare(versionNumber(x), versionNumber(y)), cmp.Compare(x.GetName(), y.GetName()))
}

// versionNumber returns the resource version of an object as a number, or 0 if it is not a number.
func versionNumber(o client.Object) uint64 {
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// RegisterAll adds all indexes to a cache. It must be called before the cache starts.
func RegisterAll(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range All() {
		if err := indexer.IndexField(ctx, i.Object, i.Name, i.Values); err != nil {
			return fmt.Errorf("index %s: %w", i.Name, err)
		}
	}
	return nil
}
