// Package v1alpha1 contains version v1alpha1 of the API group nodeinfo.volcano.sh: the CPU topology reported by the
// agent of a node.
//
// +kubebuilder:object:generate=true
// +groupName=nodeinfo.volcano.sh
package v1alpha1
