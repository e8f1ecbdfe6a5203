// Package v1alpha1 holds version v1alpha1 of the API group flow.volcano.sh: jobs that follow each other, and the templates they are made from.
//
// +kubebuilder:object:generate=true
// +groupName=flow.volcano.sh
package v1alpha1
