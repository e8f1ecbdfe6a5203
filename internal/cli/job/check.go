package job

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

// check applies defaults and rules to the jobs and queues among the objects, as
// the server's admission will, with the same words. What is sent stays as it was.
func check(ctx context.Context, f *cli.Factory, objects []cli.FileObject, ask bool) error {
	queues := queuesIn(objects)
	if ask && slices.ContainsFunc(objects, func(o cli.FileObject) bool { return o.Object.GetKind() == "Job" }) {
		queues = withServerQueues(ctx, f, queues)
	} else {
		queues = nil
	}
	var problems []error
	for _, object := range objects {
		job, isJob, err := typedJob(object)
		if err != nil {
			problems = append(problems, cli.InFile(cli.Errorf("a field has the wrong type", "%v", err), object))
			continue
		}
		if !isJob {
			continue
		}
		batchv1alpha1.DefaultJob(job, "")
		var lookup schedulingv1beta1.QueueLookup
		if queues != nil {
			lookup = schedulingv1beta1.NewQueueLookup(queues...)
		}
		for _, one := range batchv1alpha1.ValidateJob(job, lookup) {
			problems = append(problems, cli.InFileAt(fieldError(one, job, queues), object, one.Field))
		}
	}
	return errors.Join(problems...)
}

// fieldError is the server's text, with a hint where a better word is near.
func fieldError(problem *field.Error, job *batchv1alpha1.Job, queues []*schedulingv1beta1.Queue) error {
	e := cli.Errorf("", "%s", problem.Error())
	if problem.Field == "spec.queue" && queues != nil {
		if near := cli.Nearest(job.Spec.Queue, queueNames(queues)); near != "" && near != job.Spec.Queue {
			e.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return e
}

func queueNames(queues []*schedulingv1beta1.Queue) []string {
	names := make([]string, len(queues))
	for i, queue := range queues {
		names[i] = queue.Name
	}
	return names
}

func queuesIn(objects []cli.FileObject) []*schedulingv1beta1.Queue {
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

// withServerQueues adds the queues that exist; nil when they cannot be read: then
// the server decides.
func withServerQueues(ctx context.Context, f *cli.Factory, queues []*schedulingv1beta1.Queue) []*schedulingv1beta1.Queue {
	c, err := f.Client()
	if err != nil {
		return nil
	}
	page := &schedulingv1beta1.QueueList{}
	err = cli.Pages(ctx, c, page, func() error {
		for i := range page.Items {
			queue := page.Items[i].DeepCopy()
			if !slices.ContainsFunc(queues, func(q *schedulingv1beta1.Queue) bool { return q.Name == queue.Name }) {
				queues = append(queues, queue)
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return queues
}

// inOrder puts what others need before them: namespaces, then queues and
// priority classes, then the rest, jobs last.
func inOrder(objects []cli.FileObject) []cli.FileObject {
	rank := func(kind schema.GroupVersionKind) int {
		switch {
		case kind.Kind == "CustomResourceDefinition":
			return 0
		case kind.Kind == "Namespace":
			return 1
		case kind.Kind == "Queue", kind.Kind == "PriorityClass":
			return 2
		case kind == batchv1alpha1.GroupVersion.WithKind("Job"):
			return 4
		}
		return 3
	}
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b cli.FileObject) int {
		return rank(a.Object.GroupVersionKind()) - rank(b.Object.GroupVersionKind())
	})
	return sorted
}

// whyNotCreated says more about an object that exists already.
func whyNotCreated(ctx context.Context, f *cli.Factory, c client.Client, object *unstructured.Unstructured, err error) error {
	if unknown := cli.UnknownFields(object, err); unknown != nil {
		return unknown
	}
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	kind, name, namespace := object.GetKind(), object.GetName(), object.GetNamespace()
	e := &cli.Error{Err: err, What: fmt.Sprintf("%s %q already exists", lower(kind), name), Hint: "delete it, or use another name"}
	if namespace != "" {
		e.What += fmt.Sprintf(" in namespace %q", namespace)
	}
	if object.GroupVersionKind() != batchv1alpha1.GroupVersion.WithKind("Job") {
		return e
	}
	e.Hint = fmt.Sprintf("delete it (vcctl job delete %s -n %s), or use generateName or another name", name, namespace)
	job := &batchv1alpha1.Job{}
	if c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, job) == nil {
		e.What += fmt.Sprintf(" (created %s ago, %s)", render.Age(f.Now(), job.CreationTimestamp.Time), phaseOf(job))
	}
	return e
}
