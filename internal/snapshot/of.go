package snapshot

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// StoreObject stores an object of any kind that the dashboard shows. The caller must not change jobs, PodGroups, queues
// or hypernodes afterwards.
func (b *Board) StoreObject(object runtime.Object) error {
	switch o := object.(type) {
	case *corev1.Node:
		b.SetNode(FromNode(o))
	case *corev1.Pod:
		b.SetPod(FromPod(o))
	case *corev1.Event:
		b.AddEvent(FromEvent(o))
	case *schedulingv1.PriorityClass:
		b.SetPriority(o.Name, o.Value)
	case *batchv1alpha1.Job:
		b.SetJob(o)
	case *schedulingv1beta1.PodGroup:
		b.SetGroup(o)
	case *schedulingv1beta1.Queue:
		b.SetQueue(o)
	case *topologyv1alpha1.HyperNode:
		b.SetHyperNode(o)
	default:
		return fmt.Errorf("the dashboard does not support objects of type %T", object)
	}
	return nil
}

// Of returns a complete, connected Snapshot of the objects at a time. Tests and one-time output use it.
func Of(now time.Time, objects ...runtime.Object) (*Snapshot, error) {
	b := NewBoard()
	for _, object := range objects {
		if err := b.StoreObject(object); err != nil {
			return nil, err
		}
	}
	return b.TakeSnapshot(now, Facts{Connection: Connection{Link: LinkLive, Since: now}}), nil
}
