// Package podgroup gives every pod of ours that no job made a PodGroup: one for all pods of a ReplicaSet, StatefulSet, Job or other controller,
// or one for the pod alone.
//
//	In:   watches of pods, ReplicaSets and StatefulSets
//	Out:  PodGroups, and the annotation on the pods that names theirs
//
// # Concurrency
//
// Pods of one owner are handled in parallel; the API server decides who makes the PodGroup.
package podgroup
