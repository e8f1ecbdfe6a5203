// Package v1alpha1 contains version v1alpha1 of the API group account.vc-batch.dev: the tree of accounts, their users,
// the qualities of service of jobs, and the limits of these. Volcano does not have this group.
//
// +kubebuilder:object:generate=true
// +groupName=account.vc-batch.dev
package v1alpha1
