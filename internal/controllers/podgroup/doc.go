// Package podgroup creates PodGroups for pods that do not belong to a Volcano job: one for all pods of a ReplicaSet,
// StatefulSet, Job or other controller, or one for a single pod without a controller.
//
//	In:   watches of pods, ReplicaSets and StatefulSets
//	Out:  PodGroups, and the annotation on the pods that names their PodGroup
//
// # Concurrency
//
// Pods of the same owner are handled in parallel; the API server accepts only one creation of their PodGroup.
package podgroup
