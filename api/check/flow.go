package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// newJobFlow judges the jobs of the steps as well, as far as their templates are known.
func newJobFlow(flow *flowv1alpha1.JobFlow, around *Around) Verdict {
	errs := flowv1alpha1.ValidateJobFlow(flow)
	if len(errs) > 0 {
		return Verdict{Errors: errs}
	}
	for i := range flow.Spec.Flows {
		errs = append(errs, around.step(flow, &flow.Spec.Flows[i], field.NewPath("spec", "flows").Index(i))...)
	}
	return Verdict{Errors: errs}
}

// changedJobFlow leaves steps alone that are as they were, whatever rules have come since.
func changedJobFlow(old, flow *flowv1alpha1.JobFlow, around *Around) Verdict {
	if equality.Semantic.DeepEqual(old.Spec.Flows, flow.Spec.Flows) {
		return Verdict{}
	}
	return newJobFlow(flow, around)
}

// step judges the job of a step, whose fields come from two objects: where a patch has one, or else the step, it is told which
// field of the job is wrong.
func (a *Around) step(flow *flowv1alpha1.JobFlow, step *flowv1alpha1.Flow, at *field.Path) field.ErrorList {
	if a.JobTemplate == nil {
		return nil
	}
	template := a.JobTemplate(flow.Namespace, step.Name)
	if template == nil {
		return nil
	}
	spec, where, value := template.Spec.DeepCopy(), at.Child("name"), step.Name
	if step.Patch != nil {
		where, value = at.Child("patch", "jobSpec"), ""
		var err error
		if spec, err = flowv1alpha1.Patched(spec, &step.Patch.JobSpec); err != nil {
			return field.ErrorList{field.Invalid(where, value, fmt.Sprintf("does not fit JobTemplate %s: %v", step.Name, err))}
		}
	}
	job := &batchv1alpha1.Job{Spec: *spec}
	job.Name, job.Namespace = flowv1alpha1.JobName(flow, step.Name), flow.Namespace
	var errs field.ErrorList
	for _, wrong := range a.embedded(job, nil, a.Queues).Errors {
		errs = append(errs, field.Invalid(where, value, fmt.Sprintf("its job %s, made from JobTemplate %s, would be refused: %s", job.Name, step.Name, wrong.Error())))
	}
	return errs
}
