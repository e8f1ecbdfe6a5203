// Package cgroup limits the resources of a container's processes, with control groups of version 1 or 2, depending on
// the machine.
//
//	In:   a container's requests and limits
//	Out:  a group that the container's init joins before any of its processes runs; whether the kernel killed a
//	      process in it for memory
//
// # Invariants
//
//   - A group is created only for a controller with a limit on memory or cpu, so an unlimited container costs nothing.
//   - All groups of a cluster are below one directory with the cluster's name. Remove deletes it.
package cgroup
