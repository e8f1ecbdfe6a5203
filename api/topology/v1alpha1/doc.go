// Package v1alpha1 contains version v1alpha1 of the API group topology.volcano.sh: the network topology of nodes.
//
// +kubebuilder:object:generate=true
// +groupName=topology.volcano.sh
package v1alpha1
