// Package podgroup creates PodGroups for pods that do not belong to a Volcano job. All pods of a ReplicaSet,
// StatefulSet, Job or other controller share a PodGroup. A pod without a controller gets its own.
//
//	In:   watches of pods, ReplicaSets and StatefulSets
//	Out:  PodGroups, and the annotation on each pod that names its PodGroup
//
// # Concurrency
//
// Pods of the same owner are handled in parallel; the API server accepts only one creation of their PodGroup.
package podgroup
