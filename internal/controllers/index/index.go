// Package index names the indexes that the controllers keep over the manager's cache, so that a reconcile reads what concerns it and
// nothing else.
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

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// The indexes.
const (
	PodController = "vc.controllerUID" // pods by the UID of their controller
	CommandTarget = "vc.target"        // commands by Target(kind, name)
	GroupQueue    = "vc.queue"         // PodGroups by queue
	QueueParent   = "vc.parent"        // queues by parent, root when they name none
	JobName       = "vc.jobName"       // jobs by what a dependency calls them: Reference
	JobTitle      = "vc.jobTitle"      // jobs by Title
	JobAwaits     = "vc.jobAwaits"     // jobs by what they wait for: Reference or Title
	JobController = "vc.jobController" // jobs by the UID of their controller: a CronJob, a JobFlow
	JobTemplate   = "vc.jobTemplate"   // jobs by the JobTemplate that they were made from, as namespace.name
)

// Index is one of them.
type Index struct {
	Object client.Object
	Name   string
	Values client.IndexerFunc
}

// All lists the indexes.
func All() []Index {
	return []Index{
		{&corev1.Pod{}, PodController, func(o client.Object) []string {
			if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
				return []string{string(owner.UID)}
			}
			return nil
		}},
		{&bus.Command{}, CommandTarget, func(o client.Object) []string {
			if target := o.(*bus.Command).TargetObject; target != nil {
				return []string{Target(target.Kind, target.Name)}
			}
			return nil
		}},
		{&batch.Job{}, JobName, func(o client.Object) []string { return references(o.(*batch.Job)) }},
		{&batch.Job{}, JobTitle, func(o client.Object) []string { return []string{Title(o.(*batch.Job))} }},
		{&batch.Job{}, JobAwaits, func(o client.Object) []string { return awaited(o.(*batch.Job)) }},
		{&batch.Job{}, JobController, func(o client.Object) []string {
			if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
				return []string{string(owner.UID)}
			}
			return nil
		}},
		{&batch.Job{}, JobTemplate, func(o client.Object) []string {
			if template := TemplateOf(o); template != "" {
				return []string{template}
			}
			return nil
		}},
		{&scheduling.PodGroup{}, GroupQueue, func(o client.Object) []string { return []string{QueueOf(o.(*scheduling.PodGroup))} }},
		{&scheduling.Queue{}, QueueParent, func(o client.Object) []string {
			q := o.(*scheduling.Queue)
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
func IsJobCommand(c *bus.Command) bool { return isFor(c, batch.GroupVersion.WithKind("Job")) }

// IsQueueCommand reports whether a command is for a Queue.
func IsQueueCommand(c *bus.Command) bool { return isFor(c, scheduling.GroupVersion.WithKind("Queue")) }

func isFor(c *bus.Command, kind schema.GroupVersionKind) bool {
	return c.TargetObject != nil && c.TargetObject.Kind == kind.Kind && c.TargetObject.APIVersion == kind.GroupVersion().String()
}

// Target is the value of CommandTarget.
func Target(kind, name string) string { return kind + "/" + name }

// QueueOf is the queue that a PodGroup is in.
func QueueOf(group *scheduling.PodGroup) string {
	if group.Spec.Queue == "" {
		return keys.DefaultQueue
	}
	return group.Spec.Queue
}

// Older orders objects by when they were made, within a second by the API server's count of writes.
func Older(x, y client.Object) int {
	a, b := x.GetCreationTimestamp(), y.GetCreationTimestamp()
	return cmp.Or(a.Compare(b.Time), cmp.Compare(written(x), written(y)), cmp.Compare(x.GetName(), y.GetName()))
}

// written is the API server's count of writes at the last one of an object.
func written(o client.Object) uint64 {
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Register makes all indexes; before the cache starts.
func Register(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range All() {
		if err := indexer.IndexField(ctx, i.Object, i.Name, i.Values); err != nil {
			return fmt.Errorf("index %s: %w", i.Name, err)
		}
	}
	return nil
}
