// Package v1alpha1 contains version v1alpha1 of the API group flow.volcano.sh: sequences of jobs, and job templates.
//
// +kubebuilder:object:generate=true
// +groupName=flow.volcano.sh
package v1alpha1
