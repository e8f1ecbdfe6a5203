// Package v1alpha1 holds version v1alpha1 of the API group batch.volcano.sh: the batch Job.
//
// +kubebuilder:object:generate=true
// +groupName=batch.volcano.sh
package v1alpha1
