// Package podshape extracts from a pod the properties that decide where the pod may run.
package podshape
