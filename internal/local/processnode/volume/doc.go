// Package volume makes a pod's volumes as directories of this machine and says what is mounted where.
//
//	In:   a pod, lookups of ConfigMaps, Secrets, claims and tokens, a directory
//	Out:  a path for each volume; shim.Mounts for each container
//
// What files a ConfigMap, Secret, projected or downward API volume has is computed by pure functions (files.go); writing them
// (write.go) replaces all of them at once, as the kubelet does, so that a reader never sees half of an update.
package volume
