// Package volume creates a pod's volumes as directories on this machine and computes the mounts of its containers.
//
//	In:   a pod, lookups of ConfigMaps, Secrets, claims and tokens, a directory
//	Out:  a path for each volume; shim.Mounts for each container
//
// Pure functions (files.go) compute the files of a ConfigMap, Secret, projected or downward API volume. The kubelet's
// writer replaces all files of a volume at once (write.go), so that a reader never sees a partial update.
package volume
