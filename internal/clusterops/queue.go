package clusterops

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/usererror"
)

const mergePatch = types.MergePatchType

// queueCommands is the namespace of Commands for queues, as in Volcano.
const queueCommands = "default"

// QueueCommand returns the Command for an action on a queue. As in Volcano, the queue is both its owner and its target.
func QueueCommand(q *schedulingv1beta1.Queue, action busv1alpha1.Action) *busv1alpha1.Command {
	return newCommand(metav1.NewControllerRef(q, schedulingv1beta1.GroupVersion.WithKind("Queue")), queueCommands, action)
}

// SwitchRefused returns the reason why the queue controller would not open or close a queue, because the controller
// itself would report the reason only in an event. parent may be nil.
func SwitchRefused(q, parent *schedulingv1beta1.Queue, open bool) *usererror.Error {
	wish := q.Wish()
	hasClosedParent := parent != nil && parent.Name != keys.RootQueue && !parent.IsOpen()
	switch {
	case !open && q.Name == keys.RootQueue:
		return &usererror.Error{What: fmt.Sprintf("queue %q cannot be closed: it is the root of all queues", keys.RootQueue), Hint: "close the child queues instead; use vcctl queue tree to list the queues"}
	case !open && wish == schedulingv1beta1.QueueStateOpen, open && wish == schedulingv1beta1.QueueStateClosed:
		return &usererror.Error{What: fmt.Sprintf("the annotation %[2]s sets the state of queue %[1]q to %[3]s", q.Name, keys.QueueState, wish), Hint: fmt.Sprintf("kubectl annotate queue %s %s-", q.Name, keys.QueueState)}
	case open && hasClosedParent:
		return &usererror.Error{What: fmt.Sprintf("queue %q cannot be opened: its parent %s is %s; open the parent first", q.Name, parent.Name, parent.Status.State), Hint: "vcctl queue open " + parent.Name}
	}
	return nil
}

// SwitchQueue opens or closes a queue.
func (c *Cluster) SwitchQueue(ctx context.Context, name string, open bool) (said string, err error) {
	q := &schedulingv1beta1.Queue{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, q); err != nil {
		return "", err
	}
	parent := &schedulingv1beta1.Queue{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: q.ParentName()}, parent); err != nil || q.ParentName() == "" {
		parent = nil
	}
	if refused := SwitchRefused(q, parent, open); refused != nil {
		return "", refused
	}
	action, done := busv1alpha1.CloseQueueAction, "closed"
	if open {
		action, done = busv1alpha1.OpenQueueAction, "opened"
	}
	if err := c.Client.Create(ctx, QueueCommand(q, action)); err != nil {
		return "", err
	}
	return fmt.Sprintf("queue %s will be %s", name, done), nil
}

// QueueEdit holds the changes to a queue; "" leaves a field unchanged. Amounts have the form cpu=8,nvidia.com/gpu=4 and
// replace all previous ones; "-" removes them.
type QueueEdit struct {
	Weight                          string
	Capability, Deserved, Guarantee string
}

// ApplyToSpec changes a queue's spec.
func (e *QueueEdit) ApplyToSpec(spec *schedulingv1beta1.QueueSpec) error {
	if e.Weight != "" {
		weight, err := ParseWeight(e.Weight)
		if err != nil {
			return err
		}
		spec.Weight = weight
	}
	for _, one := range []struct {
		name, text string
		list       *corev1.ResourceList
	}{{"capability", e.Capability, &spec.Capability}, {"deserved", e.Deserved, &spec.Deserved}, {"guarantee", e.Guarantee, &spec.Guarantee.Resource}} {
		if one.text == "" {
			continue
		}
		list, err := ParseAmounts(one.name, one.text)
		if err != nil {
			return err
		}
		*one.list = list
	}
	return nil
}

// MaxWeight is the largest weight that the API accepts.
const MaxWeight = 65535

// ParseWeight parses a weight. Its error is a *usererror.Error.
func ParseWeight(text string) (int32, error) {
	weight, err := strconv.ParseInt(text, 10, 32)
	if err != nil || weight < 1 || weight > MaxWeight {
		return 0, &usererror.Error{What: fmt.Sprintf("weight: %q is not a whole number from 1 to %d", text, MaxWeight), Hint: "a queue with weight 2 gets twice the share of a sibling with weight 1"}
	}
	return int32(weight), nil
}

// ParseAmounts parses the amounts of a limit, such as cpu=8,memory=64Gi. Each resource may occur only once and must not
// be negative; "" and "-" mean no amounts. Its error is a *usererror.Error that names the limit.
func ParseAmounts(limit, text string) (corev1.ResourceList, error) {
	if text == "" || text == "-" {
		return nil, nil
	}
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, found := strings.Cut(strings.TrimSpace(part), "=")
		resourceName := corev1.ResourceName(name)
		quantity, err := resource.ParseQuantity(amount)
		_, twice := list[resourceName]
		switch {
		case !found || name == "" || err != nil:
			return nil, &usererror.Error{What: fmt.Sprintf("%s: %q is not NAME=AMOUNT; example: %s=cpu=16,memory=64Gi", limit, part, limit), Hint: "use Kubernetes quantities, for example 500m, 16 or 64Gi"}
		case twice:
			return nil, &usererror.Error{What: fmt.Sprintf("%s: %s is set twice", limit, name), Hint: "specify each resource only once"}
		case quantity.Sign() < 0:
			return nil, &usererror.Error{What: fmt.Sprintf("%s: %s cannot be %s: a limit must not be negative", limit, name, amount), Hint: "\"-\" removes the limit"}
		}
		list[resourceName] = quantity
	}
	return list, nil
}

// EditQueue changes the limits and the weight of a queue.
func (c *Cluster) EditQueue(ctx context.Context, name string, edit QueueEdit) (said string, err error) {
	q := &schedulingv1beta1.Queue{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, q); err != nil {
		return "", err
	}
	before := q.DeepCopy()
	if err := edit.ApplyToSpec(&q.Spec); err != nil {
		return "", err
	}
	if err := c.Client.Patch(ctx, q, client.MergeFrom(before)); err != nil {
		return "", err
	}
	return fmt.Sprintf("queue %s changed", name), nil
}
