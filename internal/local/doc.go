// Package local runs a whole cluster on one machine: it keeps the cluster's state, starts, watches and stops it, and
// serves requests about it.
//
//	In:   Settings (directory, port, nodes, components)
//	Out:  a running cluster; progress through a Reporter; Status, as data
//
// The parts are in other packages: controlplane (etcd, API server, controllers), processnode and simnode (nodes),
// daemon (our scheduler, controllers and admission). This package starts them in order, stops them in reverse, and
// serves requests on a unix socket while they run.
//
// # Invariants
//
//   - One process per directory: it holds an exclusive lock for its lifetime, and the kernel releases the lock however
//     the process ends.
//   - A directory is written to or removed only if it was empty or contains our version file.
//   - Run returns only after every started part has ended.
//
// # Concurrency
//
// Only one Run at a time is possible in a process, because the control plane has global settings. The functions that
// inspect a cluster from outside (Find, Stop, Client) may be called from anywhere.
package local
