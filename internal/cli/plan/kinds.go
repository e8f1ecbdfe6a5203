package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

var (
	jobKind      = batchv1alpha1.GroupVersion.WithKind("Job")
	queueKind    = schedulingv1beta1.GroupVersion.WithKind("Queue")
	podGroupKind = schedulingv1beta1.GroupVersion.WithKind("PodGroup")
	podKind      = corev1.SchemeGroupVersion.WithKind("Pod")
	flowKind     = flowv1alpha1.GroupVersion.WithKind("JobFlow")
	templateKind = flowv1alpha1.GroupVersion.WithKind("JobTemplate")
)

// planned lists the kinds that the scheduler can simulate. A JobFlow is simulated as the jobs of its first steps.
var planned = []schema.GroupVersionKind{jobKind, queueKind, podGroupKind, podKind}

func isKind(o cli.FileObject, kind schema.GroupVersionKind) bool {
	return o.Object.GroupVersionKind() == kind
}

// selectPlannable returns the objects in the files that can be simulated and prints a warning about the others.
func (o *options) selectPlannable(ctx context.Context, read []cli.FileObject) ([]cli.FileObject, error) {
	hasFlow := slices.ContainsFunc(read, func(object cli.FileObject) bool { return isKind(object, flowKind) })
	var objects []cli.FileObject
	var problems []error
	for _, object := range read {
		switch kind := object.Object.GroupVersionKind(); {
		case slices.Contains(planned, kind):
			objects = append(objects, object)
		case kind == flowKind:
			jobs, err := o.firstSteps(ctx, object, read)
			objects, problems = append(objects, jobs...), append(problems, err)
		case kind == templateKind && hasFlow:
		default:
			o.f.Warnf("%s %q is ignored: plans support only jobs, job flows, pod groups, pods and queues", strings.ToLower(object.Object.GetKind()), object.Object.GetName())
		}
	}
	o.warnAboutEmptyGroups(objects)
	return objects, errors.Join(problems...)
}

// warnAboutEmptyGroups warns about pod groups without pods in the files, because without pods, only the admission to
// the queue can be simulated.
func (o *options) warnAboutEmptyGroups(objects []cli.FileObject) {
	hasPods := map[string]bool{}
	for _, object := range objects {
		if !isKind(object, podKind) {
			continue
		}
		hasPods[object.Object.GetNamespace()+"/"+keys.PodGroupOf(object.Object.GetAnnotations())] = true
	}
	for _, object := range objects {
		if name := object.Object.GetName(); isKind(object, podGroupKind) && !hasPods[object.Object.GetNamespace()+"/"+name] {
			o.f.Warnf("the files contain no pods for pod group %q: add pods with the annotation %s: %s", name, keys.GroupName, name)
		}
	}
}

// firstSteps returns the jobs of the flow's steps that would begin immediately, and prints the number of later steps.
// The later steps are not simulated, because the state of the cluster at that time is unknown.
func (o *options) firstSteps(ctx context.Context, object cli.FileObject, read []cli.FileObject) ([]cli.FileObject, error) {
	flow := &flowv1alpha1.JobFlow{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object.Object, flow); err != nil {
		return nil, cli.AddFileSource(err, object)
	}
	if problem := o.rejectExisting(ctx, object); problem != nil {
		return nil, problem
	}
	var jobs []cli.FileObject
	var first, missing []string
	for i := range flow.Spec.Flows {
		step := &flow.Spec.Flows[i]
		if step.DependsOn != nil && len(step.DependsOn.Targets) > 0 {
			continue
		}
		template := o.findTemplate(ctx, flow.Namespace, step.Name, read)
		if template == nil {
			missing = append(missing, step.Name)
			continue
		}
		job, err := flowv1alpha1.StepJob(flow, step, template)
		if err != nil {
			return nil, cli.AddFileSource(fmt.Errorf("spec.flows[%d].patch: %w", i, err), object)
		}
		job.OwnerReferences = nil // the flow does not exist
		plain, err := cli.ToPlainObject(job)
		if err != nil {
			return nil, err
		}
		first, jobs = append(first, step.Name), append(jobs, cli.FileObject{Object: plain})
	}
	if len(missing) > 0 {
		return nil, usererror.Errorf("add it to the files, or create it: vcctl jobtemplate create -f FILE",
			"job flow %q: job template %s does not exist in namespace %s, so the step would wait", flow.Name, strings.Join(missing, ", "), flow.Namespace)
	}
	if later := len(flow.Spec.Flows) - len(first); later > 0 {
		o.f.Notef("job flow %q: only its first steps are planned (%s); %s later", flow.Name, strings.Join(first, ", "), laterStepsText(later))
	}
	return jobs, nil
}

// laterStepsText returns the number of later steps as the beginning of a sentence.
func laterStepsText(steps int) string {
	if steps == 1 {
		return "1 more starts"
	}
	return fmt.Sprintf("%d more start", steps)
}

// findTemplate finds the JobTemplate of a step in the files or in the cluster. It returns nil if none exists.
func (o *options) findTemplate(ctx context.Context, namespace, name string, read []cli.FileObject) *flowv1alpha1.JobTemplate {
	for _, object := range read {
		if !isKind(object, templateKind) || object.Object.GetNamespace() != namespace || object.Object.GetName() != name {
			continue
		}
		template := &flowv1alpha1.JobTemplate{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object.Object, template) == nil {
			return template
		}
	}
	template, _ := o.f.ReadJobTemplate(ctx, namespace, name)
	return template
}

// nouns maps each kind to the command that deletes its objects.
var nouns = map[schema.GroupVersionKind]string{
	jobKind: "vcctl job", flowKind: "vcctl jobflow", podGroupKind: "vcctl podgroup", podKind: "kubectl",
}

// rejectExisting returns an error if an object cannot be submitted because its name is already in use.
func (o *options) rejectExisting(ctx context.Context, object cli.FileObject) error {
	noun, isNamed := nouns[object.Object.GroupVersionKind()]
	name, namespace := object.Object.GetName(), object.Object.GetNamespace()
	if !isNamed || name == "" {
		return nil
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(object.Object.GroupVersionKind())
	if c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, there) != nil {
		return nil //nolint:nilerr // the simulation also works without these objects
	}
	phase, _, _ := unstructured.NestedString(there.Object, "status", "state", "phase")
	if phase == "" {
		phase, _, _ = unstructured.NestedString(there.Object, "status", "phase")
	}
	remove := noun + " delete " + name
	if isKind(object, podKind) {
		remove = noun + " delete pod " + name
	}
	return usererror.Errorf(fmt.Sprintf("delete it (%s -n %s), or use generateName or another name", remove, namespace),
		"%s %q already exists in namespace %q (%s): this object would be rejected", strings.ToLower(object.Object.GetKind()), name, namespace, cmp.Or(phase, string(batchv1alpha1.Pending)))
}

// plannedGroupOf returns the name of the planned PodGroup of a pod in the files, or "" for a pod without a PodGroup.
func (w *writer) plannedGroupOf(namespace, pod string) string {
	for _, object := range w.objects {
		if !isKind(object, podKind) || object.Object.GetNamespace() != namespace || cmp.Or(object.Object.GetName(), object.Object.GetGenerateName()) != pod {
			continue
		}
		return keys.PodGroupOf(object.Object.GetAnnotations())
	}
	return ""
}
