package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// newJobFlow checks a flow and the jobs of those steps whose templates are available.
func newJobFlow(flow *flowv1alpha1.JobFlow, around *Around) Verdict {
	errs := flowv1alpha1.ValidateJobFlow(flow)
	if len(errs) > 0 {
		return Verdict{Errors: errs}
	}
	var missing []string
	for i := range flow.Spec.Flows {
		step := &flow.Spec.Flows[i]
		template, isKnown := around.templateOf(flow, step)
		if template == nil && isKnown {
			missing = append(missing, step.Name)
		}
		errs = append(errs, around.step(flow, step, template, field.NewPath("spec", "flows").Index(i))...)
	}
	return Verdict{Errors: errs, Warnings: missingTemplates(flow, missing)}
}

// maxNamed is the maximum number of missing templates that a warning lists.
const maxNamed = 5

// missingTemplates returns a warning about steps whose templates do not exist yet. Without the warning, the problem
// would be noticed only when the dependencies of such a step are met, perhaps hours later.
func missingTemplates(flow *flowv1alpha1.JobFlow, missing []string) []string {
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing[:min(len(missing), maxNamed)], ", ")
	if more := len(missing) - maxNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	if len(missing) == 1 {
		return []string{fmt.Sprintf("spec.flows: JobTemplate %s does not exist in namespace %s yet; the step waits until the JobTemplate exists", names, flow.Namespace)}
	}
	return []string{fmt.Sprintf("spec.flows: JobTemplates %s do not exist in namespace %s yet; the steps wait until the JobTemplates exist", names, flow.Namespace)}
}

// templateOf returns the template of a step.
func (a *Around) templateOf(flow *flowv1alpha1.JobFlow, step *flowv1alpha1.Flow) (template *flowv1alpha1.JobTemplate, isKnown bool) {
	if a.JobTemplate == nil {
		return nil, false
	}
	return a.JobTemplate(flow.Namespace, step.Name)
}

// changedJobFlow checks an updated flow. It skips unchanged steps, so that newer rules do not apply to them.
func changedJobFlow(old, flow *flowv1alpha1.JobFlow, around *Around) Verdict {
	if equality.Semantic.DeepEqual(old.Spec.Flows, flow.Spec.Flows) {
		return Verdict{}
	}
	return newJobFlow(flow, around)
}

// step checks the job of a step; the template may be nil. The fields of the job come from the template and from the
// step's patch. An error therefore refers to the patch or, if none exists, to the step, and its message contains
// the field of the job.
func (a *Around) step(flow *flowv1alpha1.JobFlow, step *flowv1alpha1.Flow, template *flowv1alpha1.JobTemplate, at *field.Path) field.ErrorList {
	if template == nil {
		return nil
	}
	spec, where, value := template.Spec.DeepCopy(), at.Child("name"), step.Name
	if step.Patch != nil {
		where, value = at.Child("patch", "jobSpec"), ""
		var err error
		if spec, err = flowv1alpha1.Patched(spec, &step.Patch.JobSpec); err != nil {
			return field.ErrorList{field.Invalid(where, value, fmt.Sprintf("cannot be applied to JobTemplate %s: %v", step.Name, err))}
		}
	}
	job := &batchv1alpha1.Job{Spec: *spec}
	job.Name, job.Namespace = flowv1alpha1.JobName(flow, step.Name), flow.Namespace
	var errs field.ErrorList
	for _, wrong := range a.embedded(job, nil, a.Queues).Errors {
		errs = append(errs, field.Invalid(where, value, fmt.Sprintf("the step's job %s, created from JobTemplate %s, would be rejected: %s", job.Name, step.Name, wrong.Error())))
	}
	return errs
}
