// Package v1alpha1 contains version v1alpha1 of the API group batch.volcano.sh: Job and CronJob.
//
// +kubebuilder:object:generate=true
// +groupName=batch.volcano.sh
package v1alpha1
