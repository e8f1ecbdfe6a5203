package demo

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

var _ screenapi.Actions = (*Cluster)(nil)

// phaseAfter maps a verb to the phase of a job after the verb. The pods of such a job are deleted.
var phaseAfter = map[screenapi.Verb]batchv1alpha1.JobPhase{
	screenapi.Suspend: batchv1alpha1.Aborted,
	screenapi.Resume:  batchv1alpha1.Pending,
	screenapi.Requeue: batchv1alpha1.Restarting,
	screenapi.Cancel:  batchv1alpha1.Terminated,
	screenapi.Hold:    batchv1alpha1.Pending,
	screenapi.Release: batchv1alpha1.Pending,
}

// Jobs applies a verb to jobs.
func (c *Cluster) Jobs(_ context.Context, verb screenapi.Verb, jobs []*snapshot.Job) (said string, err error) {
	chosen := map[types.UID]bool{}
	for _, job := range jobs {
		chosen[job.UID] = true
	}
	c.replaceObjects(func(object runtime.Object) runtime.Object {
		job, isJob := object.(*batchv1alpha1.Job)
		switch {
		case isJob && chosen[job.UID]:
			return c.changeJob(job, verb)
		case chosen[ownerOf(object)]:
			if verb == screenapi.Hold && !isRunning(object) {
				c.removedByHold[ownerOf(object)] = append(c.removedByHold[ownerOf(object)], object)
			}
			return nil
		}
		return object
	})
	if verb == screenapi.Release {
		c.restoreObjects(chosen)
	}
	return fmt.Sprintf("%s: %s", verb, textformat.CountWithNoun(len(jobs), "job")), nil
}

// isRunning reports whether the object is a running pod, which does not continue after a hold.
func isRunning(object runtime.Object) bool {
	pod, isPod := object.(*corev1.Pod)
	return isPod && pod.Status.Phase == corev1.PodRunning
}

// restoreObjects restores the PodGroups and pending pods that a hold of these jobs removed.
func (c *Cluster) restoreObjects(jobs map[types.UID]bool) {
	c.mu.Lock()
	for uid := range jobs {
		c.objects = append(c.objects, c.removedByHold[uid]...)
		delete(c.removedByHold, uid)
	}
	c.mu.Unlock()
	c.replaceObjects(func(object runtime.Object) runtime.Object { return object })
}

// Priority gives jobs another priority class.
func (c *Cluster) Priority(_ context.Context, class string, jobs []*snapshot.Job) (said string, err error) {
	chosen := map[types.UID]bool{}
	for _, job := range jobs {
		chosen[job.UID] = true
	}
	c.replaceObjects(func(object runtime.Object) runtime.Object {
		job, isJob := object.(*batchv1alpha1.Job)
		if !isJob || !chosen[job.UID] {
			return object
		}
		job = job.DeepCopy()
		job.Spec.PriorityClassName = class
		return job
	})
	return fmt.Sprintf("priority changed: %s", textformat.CountWithNoun(len(jobs), "job")), nil
}

// changeJob returns a copy of the job after a verb, or nil if the job was deleted.
func (c *Cluster) changeJob(job *batchv1alpha1.Job, verb screenapi.Verb) runtime.Object {
	if verb == screenapi.Delete {
		return nil
	}
	job = job.DeepCopy()
	switch verb {
	case screenapi.Hold:
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, keys.Hold, keys.HoldUser)
	case screenapi.Cancel:
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, keys.CancelledBy, User)
	case screenapi.Release:
		delete(job.Annotations, keys.Hold)
	}
	now := metav1.NewTime(c.Now())
	job.Status.State = batchv1alpha1.JobState{Phase: phaseAfter[verb], LastTransitionTime: now}
	job.Status.Conditions = append(job.Status.Conditions, batchv1alpha1.JobCondition{Status: phaseAfter[verb], LastTransitionTime: &now})
	job.Status.Running, job.Status.Pending = 0, 0
	switch verb {
	case screenapi.Hold:
		job.Status.State.Reason, job.Status.State.Message = string(reason.JobHeldUser), "the job is held by its user"
	case screenapi.Release:
		job.Status.Pending = job.Spec.Tasks[0].Replicas
	}
	return job
}

// ownerOf returns the UID of the job to which a pod or pod group belongs, or "".
func ownerOf(object runtime.Object) types.UID {
	accessor, err := meta.Accessor(object)
	if err != nil || len(accessor.GetOwnerReferences()) == 0 {
		return ""
	}
	return accessor.GetOwnerReferences()[0].UID
}

// Queue opens or closes a queue.
func (c *Cluster) Queue(_ context.Context, verb screenapi.Verb, name string) (said string, err error) {
	state := schedulingv1beta1.QueueStateClosed
	if verb == screenapi.OpenIt {
		state = schedulingv1beta1.QueueStateOpen
	}
	return c.changeQueue(name, func(q *schedulingv1beta1.Queue) error {
		q.Status.State = state
		return nil
	})
}

// EditQueue changes a queue's limits.
func (c *Cluster) EditQueue(_ context.Context, name string, edit screenapi.QueueEdit) (said string, err error) {
	return c.changeQueue(name, func(q *schedulingv1beta1.Queue) error {
		checked := clusterops.QueueEdit(edit)
		return checked.ApplyToSpec(&q.Spec)
	})
}

func (c *Cluster) changeQueue(name string, change func(*schedulingv1beta1.Queue) error) (said string, err error) {
	c.replaceObjects(func(object runtime.Object) runtime.Object {
		q, isQueue := object.(*schedulingv1beta1.Queue)
		if !isQueue || q.Name != name {
			return object
		}
		changed := q.DeepCopy()
		if err = change(changed); err != nil {
			return q
		}
		return changed
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("queue %s changed", name), nil
}

// copyObjectsWithStatus replaces the objects that FillInStatus changes, queues and pod groups, by copies.
func copyObjectsWithStatus(objects []runtime.Object) []runtime.Object {
	for i, object := range objects {
		switch object.(type) {
		case *schedulingv1beta1.Queue, *schedulingv1beta1.PodGroup:
			objects[i] = object.DeepCopyObject()
		}
	}
	return objects
}

// Node cordons, uncordons or drains a node.
func (c *Cluster) Node(_ context.Context, verb screenapi.Verb, name string) (said string, err error) {
	c.replaceObjects(func(object runtime.Object) runtime.Object {
		switch o := object.(type) {
		case *corev1.Node:
			if o.Name == name {
				o = o.DeepCopy()
				o.Spec.Unschedulable = verb != screenapi.Uncordon
				return o
			}
		case *corev1.Pod:
			if verb == screenapi.Drain && o.Spec.NodeName == name {
				return nil
			}
		}
		return object
	})
	return fmt.Sprintf("%s: node %s", verb, name), nil
}

// Manifest returns an object as YAML.
func (c *Cluster) Manifest(_ context.Context, kind, namespace, name string) (string, error) {
	for _, object := range c.currentObjects() {
		accessor, err := meta.Accessor(object)
		if err != nil || kindOf(object) != kind {
			continue
		}
		if accessor.GetNamespace() != namespace || accessor.GetName() != name {
			continue
		}
		text, err := yaml.Marshal(object)
		return string(text), err
	}
	return "", fmt.Errorf("%s %s does not exist", kind, name)
}

func kindOf(object runtime.Object) string {
	switch object.(type) {
	case *batchv1alpha1.Job:
		return "Job"
	case *schedulingv1beta1.Queue:
		return "Queue"
	case *corev1.Node:
		return "Node"
	case *corev1.Pod:
		return "Pod"
	case *schedulingv1beta1.PodGroup:
		return "PodGroup"
	}
	return ""
}

// Describe returns the object as YAML, because only a server has a description.
func (c *Cluster) Describe(ctx context.Context, kind, namespace, name string) (string, error) {
	return c.Manifest(ctx, kind, namespace, name)
}

// Sheet returns the details of a job.
func (c *Cluster) Sheet(_ context.Context, job *snapshot.Job) (*jobstatus.Sheet, error) {
	return NewJobSheet(job, PodsByJob(c.currentObjects())[job.UID]), nil
}

// EditJob returns an error.
func (c *Cluster) EditJob(context.Context, *snapshot.Job, io.Reader, io.Writer, io.Writer) (said string, err error) {
	return "", errors.New("jobs in the demo cannot be edited")
}

// EditQueueObject returns an error.
func (c *Cluster) EditQueueObject(context.Context, string, io.Reader, io.Writer, io.Writer) (said string, err error) {
	return "", errors.New("queues in the demo cannot be edited in an editor; press e to change their limits")
}

// Attach returns an error.
func (c *Cluster) Attach(context.Context, screenapi.PodRef, io.Reader, io.Writer, io.Writer) error {
	return errors.New("pods in the demo do not run programs")
}
