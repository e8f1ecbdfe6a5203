// Package cgroup limits what a container's processes may use, with control groups of version 1 or 2, whichever the machine has.
//
//	In:   a container's requests and limits
//	Out:  a group that its init joins before anything of it runs; the number of processes the kernel killed for memory in it
//
// # Invariants
//
//   - A group without a limit on memory or cpu is not made for that controller: an unlimited container costs nothing.
//   - All groups of a cluster are below one directory that carries its name; Remove takes it away.
package cgroup
