// Package v1alpha1 contains version v1alpha1 of the API group bus.volcano.sh: commands to controllers, and the names of
// events and actions.
//
// +kubebuilder:object:generate=true
// +groupName=bus.volcano.sh
package v1alpha1
