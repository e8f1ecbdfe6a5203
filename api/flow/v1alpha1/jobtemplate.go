package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// JobTemplate is a template from which JobFlows in the same namespace create jobs.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=jobtemplates,scope=Namespaced,shortName=jt
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type JobTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the spec of the jobs created from the template.
	// +optional
	Spec batchv1alpha1.JobSpec `json:"spec,omitempty"`
	// +optional
	Status JobTemplateStatus `json:"status,omitempty"`
}

// JobTemplateList is a list of JobTemplates.
//
// +kubebuilder:object:root=true
type JobTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []JobTemplate `json:"items"`
}

// JobTemplateStatus describes the use of a template.
type JobTemplateStatus struct {
	// JobDependsOnList lists the names of the existing jobs that were created from the template.
	// +optional
	JobDependsOnList []string `json:"jobDependsOnList,omitempty"`
}
