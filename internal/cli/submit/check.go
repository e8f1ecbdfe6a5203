package submit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apicheck "github.com/vc-batch/vc/api/check"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/usererror"
)

// CheckObjects validates the objects before they are sent. It first checks the objects of vc's kinds: it applies the
// defaults and rules of the server's admission to copies of them and returns the same errors as the server. If there
// are no errors, the server validates all objects; see checkAtServer.
func CheckObjects(ctx context.Context, f *cli.Factory, objects []cli.FileObject, dryRun *cli.DryRun, fields *cli.FieldValidation) error {
	if err := errors.Join(checkNames(objects), checkLocally(ctx, f, objects, !dryRun.IsClient(), fields)); err != nil {
		return err
	}
	return checkAtServer(ctx, f, objects, dryRun, fields)
}

// checkNames rejects objects of the same kind and name, because only the first of them could be created.
func checkNames(objects []cli.FileObject) error {
	type name struct{ group, kind, namespace, name string }
	seen := map[name]bool{}
	var problems []error
	for _, object := range objects {
		o, kind := object.Object, object.Object.GroupVersionKind()
		key := name{kind.Group, kind.Kind, o.GetNamespace(), o.GetName()}
		if o.GetName() != "" && seen[key] {
			err := usererror.Errorf("remove one of them, or change its name", "%s %q is in the files more than once", strings.ToLower(kind.Kind), o.GetName())
			problems = append(problems, cli.AddFileSource(err, object))
		}
		seen[key] = true
	}
	return errors.Join(problems...)
}

// checkLocally validates the objects of vc's kinds locally. If ask is set, it reads from the server the objects to
// which they refer.
func checkLocally(ctx context.Context, f *cli.Factory, objects []cli.FileObject, ask bool, fields *cli.FieldValidation) error {
	around := f.ValidationContext(ctx, false)
	var queues []*schedulingv1beta1.Queue
	if ask && slices.ContainsFunc(objects, func(o cli.FileObject) bool { return apicheck.Judges(o.Object.GroupVersionKind()) }) {
		queues = addServerQueues(ctx, f, extractQueues(objects))
		around.NamespaceQueue = func(namespace string) string { return queueOfNamespace(ctx, f, namespace) }
	}
	if ask {
		around.Jobs = newJobLookup(ctx, f, objects)
	}
	around.JobTemplate = templateLookup(ctx, f, objects, ask)
	if queues != nil {
		around.Queues = schedulingv1beta1.NewQueueLookup(queuesForChecks(objects, around, queues)...)
	}
	var problems []error
	for _, object := range objects {
		problems = append(problems, checkObject(f, object, around, queues, ask, fields))
	}
	if ask {
		problems = append(problems, checkPriorities(ctx, f, objects)...)
	}
	return errors.Join(problems...)
}

// queuesForChecks returns the queues against which the objects in the files are validated. It removes the resource
// amounts of invalid queues in the files, so that their errors are not also reported for their siblings.
func queuesForChecks(objects []cli.FileObject, around *apicheck.Around, queues []*schedulingv1beta1.Queue) []*schedulingv1beta1.Queue {
	filed := map[string]cli.FileObject{}
	for _, object := range objects {
		if object.Object.GroupVersionKind() == schedulingv1beta1.GroupVersion.WithKind("Queue") {
			filed[object.Object.GetName()] = object
		}
	}
	if len(filed) < 2 {
		return queues
	}
	judged := slices.Clone(queues)
	for i, queue := range queues {
		object, isFiled := filed[queue.Name]
		if !isFiled {
			continue
		}
		alone, above := slices.Clone(queues), ancestorNames(queue, queues)
		for j, other := range queues {
			if _, isFiled := filed[other.Name]; isFiled && j != i && !above[other.Name] {
				alone[j] = RemoveAmounts(other)
			}
		}
		beside := *around
		beside.Queues = schedulingv1beta1.NewQueueLookup(alone...)
		text, err := object.Object.MarshalJSON()
		if err == nil && len(apicheck.Create(object.Object.GroupVersionKind(), text, &beside).Errors) > 0 {
			judged[i] = RemoveAmounts(queue)
		}
	}
	return judged
}

// ancestorNames returns the names of all ancestors of a queue.
func ancestorNames(queue *schedulingv1beta1.Queue, queues []*schedulingv1beta1.Queue) map[string]bool {
	above := map[string]bool{}
	for parent := queue.ParentName(); parent != "" && !above[parent]; {
		above[parent] = true
		at := slices.IndexFunc(queues, func(q *schedulingv1beta1.Queue) bool { return q.Name == parent })
		if at < 0 {
			break
		}
		parent = queues[at].ParentName()
	}
	return above
}

// RemoveAmounts returns a copy of a queue without limits, deserved amounts and guarantees.
func RemoveAmounts(queue *schedulingv1beta1.Queue) *schedulingv1beta1.Queue {
	copied := queue.DeepCopy()
	copied.Spec.Capability, copied.Spec.Deserved, copied.Spec.Guarantee = nil, nil, schedulingv1beta1.Guarantee{}
	return copied
}

// checkObject returns the validation errors of one object. If ask is false, it also prints warnings about settings that
// are probably unintended.
func checkObject(f *cli.Factory, object cli.FileObject, around *apicheck.Around, queues []*schedulingv1beta1.Queue, ask bool, fields *cli.FieldValidation) error {
	kind := object.Object.GroupVersionKind()
	if !apicheck.Judges(kind) {
		return nil
	}
	text, err := object.Object.MarshalJSON()
	if err != nil {
		return cli.AddFileSource(err, object)
	}
	problems := []error{fields.CheckFields(f, object)}
	verdict := apicheck.Create(kind, text, around)
	if !ask { // otherwise the server warns
		for _, one := range verdict.Warnings {
			f.Warnf("%s %q: %s", strings.ToLower(kind.Kind), object.Object.GetName(), one)
		}
	}
	for _, one := range verdict.Errors {
		problems = append(problems, cli.AddFilePosition(fieldError(one, object, queues), object, one.Field))
	}
	return errors.Join(problems...)
}

// fieldError returns the server's error message for a field. If there is a similar value, the hint suggests it.
func fieldError(problem *field.Error, object cli.FileObject, queues []*schedulingv1beta1.Queue) error {
	e := usererror.Errorf("", "%s", problem.Error())
	name, isText := problem.BadValue.(string)
	if isText && strings.HasSuffix(problem.Field, "spec.queue") && queues != nil {
		if near := cli.FindNearest(name, queueNames(queues)); near != "" && near != name {
			e.Hint = fmt.Sprintf("did you mean %q?", near)
		} else if leaves := leafQueuesBelow(name, queues); len(leaves) > 0 {
			e.Hint = "submit jobs to a leaf queue: " + strings.Join(leaves, ", ")
		}
	}
	if flag := flagForField(problem.Field, object.Flags); flag != "" {
		e.Hint = strings.TrimSuffix("change "+flag+"; "+e.Hint, "; ")
	}
	return e
}

// flagForField returns the flag that set a field, which is the flag for the longest matching path prefix.
func flagForField(field string, flags map[string]string) string {
	best := ""
	for path := range flags {
		if strings.HasPrefix(field, path) && len(path) > len(best) {
			best = path
		}
	}
	return flags[best]
}

// templateLookup returns a function that looks up JobTemplates among the objects to send and then, if ask is set, on
// the server.
func templateLookup(ctx context.Context, f *cli.Factory, objects []cli.FileObject, ask bool) func(namespace, name string) (template *flowv1alpha1.JobTemplate, isKnown bool) {
	return func(namespace, name string) (*flowv1alpha1.JobTemplate, bool) {
		for _, object := range objects {
			o := object.Object
			if o.GroupVersionKind() != flowv1alpha1.GroupVersion.WithKind("JobTemplate") || o.GetNamespace() != namespace || o.GetName() != name {
				continue
			}
			template := &flowv1alpha1.JobTemplate{}
			if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, template) != nil {
				return nil, false // its own error is reported separately
			}
			return template, true
		}
		if !ask {
			return nil, false
		}
		return f.ReadJobTemplate(ctx, namespace, name)
	}
}

// queueOfNamespace returns the default queue that a namespace sets for PodGroups without a queue.
func queueOfNamespace(ctx context.Context, f *cli.Factory, name string) string {
	c, err := f.Client()
	if err != nil {
		return ""
	}
	namespace := &corev1.Namespace{}
	if err := c.Get(ctx, types.NamespacedName{Name: name}, namespace); err != nil {
		return ""
	}
	return namespace.Annotations[keys.PodQueueName]
}

// leafQueuesBelow returns the queues below a queue that accept jobs. It returns no queues if the queue itself accepts
// jobs.
func leafQueuesBelow(name string, queues []*schedulingv1beta1.Queue) []string {
	const most = 8
	forest := queueusage.NewForest(queues)
	var leaves []string
	for _, below := range forest.DescendantsOf(name) {
		if len(forest.Children(below.Name)) == 0 && below.IsOpen() && len(leaves) < most {
			leaves = append(leaves, below.Name)
		}
	}
	return leaves
}

func queueNames(queues []*schedulingv1beta1.Queue) []string {
	names := make([]string, len(queues))
	for i, queue := range queues {
		names[i] = queue.Name
	}
	return names
}

func extractQueues(objects []cli.FileObject) []*schedulingv1beta1.Queue {
	var queues []*schedulingv1beta1.Queue
	for _, object := range objects {
		if object.Object.GroupVersionKind() != schedulingv1beta1.GroupVersion.WithKind("Queue") {
			continue
		}
		queue := &schedulingv1beta1.Queue{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object.Object, queue) == nil {
			schedulingv1beta1.DefaultQueue(queue)
			queue.Status.State = schedulingv1beta1.QueueStateOpen
			queues = append(queues, queue)
		}
	}
	return queues
}

// addServerQueues adds the queues that exist on the server. It returns nil if they cannot be read; the server then does
// the checks.
func addServerQueues(ctx context.Context, f *cli.Factory, queues []*schedulingv1beta1.Queue) []*schedulingv1beta1.Queue {
	there := f.ReadQueues(ctx)
	if there == nil {
		return nil
	}
	for _, queue := range there {
		if !slices.ContainsFunc(queues, func(q *schedulingv1beta1.Queue) bool { return q.Name == queue.Name }) {
			queues = append(queues, queue)
		}
	}
	return queues
}
