// Package v1beta1 contains version v1beta1 of the API group scheduling.volcano.sh: PodGroup and Queue.
//
// +kubebuilder:object:generate=true
// +groupName=scheduling.volcano.sh
package v1beta1
