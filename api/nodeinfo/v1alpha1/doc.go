// Package v1alpha1 holds version v1alpha1 of the API group nodeinfo.volcano.sh: what a node's agent says of its cpus.
//
// +kubebuilder:object:generate=true
// +groupName=nodeinfo.volcano.sh
package v1alpha1
