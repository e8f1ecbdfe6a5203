// Package v1alpha1 holds version v1alpha1 of the API group topology.volcano.sh: which nodes are near each other.
//
// +kubebuilder:object:generate=true
// +groupName=topology.volcano.sh
package v1alpha1
