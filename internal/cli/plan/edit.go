package plan

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// editedQueue returns the queue with the changes specified by --set.
func (o *options) editedQueue(ctx context.Context) (*cli.FileObject, error) {
	c, err := o.f.Client()
	if err != nil {
		return nil, err
	}
	queue := &schedulingv1beta1.Queue{}
	if err := c.Get(ctx, types.NamespacedName{Name: cli.BareName(o.queue, "queues")}, queue); err != nil {
		if apierrors.IsNotFound(err) {
			names := o.f.SuggestNames(schedulingv1beta1.GroupVersion.WithKind("Queue"), false)(ctx)
			missing := cli.NotFoundError("queue", cli.BareName(o.queue, "queues"), "", names)
			missing.Hint = strings.TrimSpace(missing.Hint + " vcctl queue list shows the existing queues; to plan a new queue, use a file")
			return nil, missing
		}
		return nil, err
	}
	for _, setting := range o.set {
		if err := applySetting(queue, setting); err != nil {
			return nil, err
		}
	}
	plain, err := toUnstructuredQueue(queue)
	return &cli.FileObject{Object: plain}, err
}

// toUnstructuredQueue converts a queue to the form in which it is included in a plan.
func toUnstructuredQueue(queue *schedulingv1beta1.Queue) (*unstructured.Unstructured, error) {
	queue = queue.DeepCopy()
	if err := cli.SetKind(queue); err != nil {
		return nil, err
	}
	queue.ManagedFields = nil
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(queue)
	return &unstructured.Unstructured{Object: plain}, err
}

// NewQueueObject converts a changed queue to an object for RequestPlan.
func NewQueueObject(queue *schedulingv1beta1.Queue) (runtime.RawExtension, error) {
	plain, err := toUnstructuredQueue(queue)
	if err != nil {
		return runtime.RawExtension{}, err
	}
	raw, err := plain.MarshalJSON()
	return runtime.RawExtension{Raw: raw}, err
}

// fields lists the fields that --set can change.
const fields = "weight, priority, parent, reclaimable, state, capability.RESOURCE, deserved.RESOURCE, guarantee.RESOURCE"

// completeSetting completes the fields of --set, and the values of fields that have only a few possible values.
func completeSetting(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if name, _, valued := strings.Cut(prefix, "="); valued {
		words := map[string][]string{"reclaimable": {"true", "false"}, "state": {"Open", "Closed"}}[name]
		for i := range words {
			words[i] = name + "=" + words[i]
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	var offered []string
	for _, field := range strings.Split(fields, ", ") {
		for _, word := range settingWords(field) {
			if strings.HasPrefix(word, prefix) {
				offered = append(offered, word)
			}
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// settingWords returns the completions for a field. A resource limit has one completion for each common resource.
func settingWords(field string) []string {
	limit, isLimit := strings.CutSuffix(field, "RESOURCE")
	if !isLimit {
		return []string{field + "="}
	}
	return []string{limit + "cpu=", limit + "memory=", limit + "nvidia.com/gpu="}
}

// applySetting applies one FIELD=VALUE setting to the queue.
func applySetting(queue *schedulingv1beta1.Queue, setting string) error {
	name, value, found := strings.Cut(setting, "=")
	if !found {
		return usererror.Errorf("for example --set weight=4", "--set %s: want FIELD=VALUE", setting)
	}
	if limit, of, ok := strings.Cut(name, "."); ok {
		return setQueueLimit(queue, limit, corev1.ResourceName(of), value)
	}
	number := func() (int32, error) {
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return 0, usererror.Errorf("specify a whole number, for example 4", "--set %s: %q is not a whole number", name, value)
		}
		return int32(n), nil
	}
	var err error
	switch name {
	case "weight":
		queue.Spec.Weight, err = number()
	case "priority":
		queue.Spec.Priority, err = number()
	case "parent":
		queue.Spec.Parent = value
	case "state":
		return setQueueState(queue, value)
	case "reclaimable":
		yes, parseErr := strconv.ParseBool(value)
		if parseErr != nil {
			return usererror.Errorf("specify true or false", "--set reclaimable: must be true or false, not %q", value)
		}
		queue.Spec.Reclaimable = &yes
	default:
		hint := "fields: " + fields
		if near := cli.FindNearest(name, strings.Split(strings.ReplaceAll(fields, ".RESOURCE", ""), ", ")); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return usererror.Errorf(hint, "--set %s: queues have no such field", name)
	}
	return err
}

func setQueueState(queue *schedulingv1beta1.Queue, value string) error {
	for _, state := range []schedulingv1beta1.QueueState{schedulingv1beta1.QueueStateOpen, schedulingv1beta1.QueueStateClosed} {
		if strings.EqualFold(value, string(state)) {
			queue.Status.State = state
			return nil
		}
	}
	return usererror.Errorf("states: Open, Closed", "--set state: %q is not a valid state", value)
}

func setQueueLimit(queue *schedulingv1beta1.Queue, limit string, of corev1.ResourceName, value string) error {
	lists := map[string]*corev1.ResourceList{
		"capability": &queue.Spec.Capability, "deserved": &queue.Spec.Deserved, "guarantee": &queue.Spec.Guarantee.Resource,
	}
	list, ok := lists[limit]
	if !ok {
		return usererror.Errorf("fields: "+fields, "--set %s.%s: queues have no such field", limit, of)
	}
	if value == "" {
		delete(*list, of)
		return nil
	}
	quantity, err := resource.ParseQuantity(value)
	if err != nil {
		return usererror.Errorf("specify a quantity, for example 64 or 128Gi", "--set %s.%s: %q: %v", limit, of, value, err)
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[of] = quantity
	return nil
}

// isUnknownKind reports whether err means that the API server does not serve a kind.
func isUnknownKind(err error) bool {
	if meta.IsNoMatchError(err) {
		return true
	}
	return cli.IsUnknownKind(err)
}
