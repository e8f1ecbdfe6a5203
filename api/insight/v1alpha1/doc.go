// Package v1alpha1 contains version v1alpha1 of the API group insight.vc-batch.dev: what-if requests to the scheduler.
// The group does not exist in Volcano.
//
// +kubebuilder:object:generate=true
// +groupName=insight.vc-batch.dev
package v1alpha1
