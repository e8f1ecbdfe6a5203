// Package cgroup limits the resources of a container's processes by control groups. It supports versions 1 and 2.
// github.com/opencontainers/cgroups writes the limits; this package decides which groups exist, and where.
//
//	In:   a container's requests and limits
//	Out:  a group that the container's init joins before any of its processes runs; whether the kernel killed a process
//	      of the group for memory
//
// # Invariants
//
//   - A group is created only for a controller that must enforce a limit on memory or cpu, so a container without
//     limits costs nothing.
//   - All groups of a cluster are below a directory with the cluster's name. RemoveGroups deletes this directory.
package cgroup
