// Package v1alpha1 holds version v1alpha1 of the API group insight.vc-batch.dev: questions to the scheduler. The group is ours; Volcano has none like it.
//
// +kubebuilder:object:generate=true
// +groupName=insight.vc-batch.dev
package v1alpha1
