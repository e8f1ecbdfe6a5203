// Package v1alpha1 holds version v1alpha1 of the API group bus.volcano.sh: commands to controllers, and the vocabulary of events and actions.
//
// +kubebuilder:object:generate=true
// +groupName=bus.volcano.sh
package v1alpha1
