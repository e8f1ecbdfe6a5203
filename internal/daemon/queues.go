package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

const (
	queueTries = 600
	queuePause = 100 * time.Millisecond
)

// ensureQueues creates the root queue and the default queue if they are missing. If tries is greater than 1, it waits
// for an admission webhook that is not ready yet.
func ensureQueues(ctx context.Context, o *Options, tries int, log logr.Logger) error {
	c, err := client.New(o.Config, client.Options{Scheme: newScheme()})
	if err != nil {
		return fmt.Errorf("client for queues: %w", err)
	}
	for _, q := range []*schedulingv1beta1.Queue{
		newQueue(keys.RootQueue, "", false),
		newQueue(o.DefaultQueue, keys.RootQueue, true),
	} {
		if err := ensureQueue(ctx, c, q, tries, log); err != nil {
			return err
		}
	}
	return nil
}

func newQueue(name, parent string, reclaimable bool) *schedulingv1beta1.Queue {
	return &schedulingv1beta1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       schedulingv1beta1.QueueSpec{Weight: 1, Reclaimable: ptr.To(reclaimable), Parent: parent},
	}
}

func ensureQueue(ctx context.Context, c client.Client, q *schedulingv1beta1.Queue, tries int, log logr.Logger) error {
	var err error
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(queuePause):
			}
		}
		err = c.Get(ctx, client.ObjectKeyFromObject(q), &schedulingv1beta1.Queue{})
		if apierrors.IsNotFound(err) {
			err = c.Create(ctx, q.DeepCopy())
		}
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		log.V(1).Info("Queue cannot be created yet", "queue", q.Name, "reason", err.Error())
	}
	return fmt.Errorf("queue %s: %w", q.Name, err)
}
