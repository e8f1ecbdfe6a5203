// Package podshape extracts from a pod what decides where the pod may run.
package podshape
