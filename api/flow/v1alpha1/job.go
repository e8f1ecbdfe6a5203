package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// StepJob returns the job that a flow creates from a template for one of its steps.
func StepJob(f *JobFlow, step *Flow, template *JobTemplate) (*batchv1alpha1.Job, error) {
	spec := template.Spec.DeepCopy()
	if step.Patch != nil {
		var err error
		if spec, err = Patched(spec, &step.Patch.JobSpec); err != nil {
			return nil, err
		}
	}
	made := map[string]string{
		keys.CreatedByJobTemplate: template.Namespace + "." + template.Name,
		keys.CreatedByJobFlow:     f.Namespace + "." + f.Name,
	}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: JobName(f, step.Name), Namespace: f.Namespace, Annotations: made, Labels: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(f, GroupVersion.WithKind("JobFlow"))},
	}, Spec: *spec}
	for key, value := range made {
		if len(validation.IsValidLabelValue(value)) == 0 {
			job.Labels[key] = value
		}
	}
	batchv1alpha1.InheritUser(job, f)
	return job, nil
}
