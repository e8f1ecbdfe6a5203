// Package local runs a whole cluster on one machine. It keeps the cluster's state, starts, watches and stops the
// cluster, and serves requests about it.
//
//	In:   Settings (directory, port, nodes, components)
//	Out:  a running cluster; progress through a Reporter; Status, as data
//
// The parts are in other packages: controlplane (etcd, API server, controllers), processnode and simnode (nodes), and
// daemon (the project's scheduler, controllers and admission). This package starts them in order, serves requests on
// a unix socket while they run, and stops them in reverse order.
//
// # Invariants
//
//   - There is one process per directory. It holds an exclusive lock for its lifetime, which the kernel releases
//     however the process ends.
//   - A directory is written to or removed only if it was empty or contains the version file of vc-local.
//   - Run returns only after every part that was started has ended.
//
// # Concurrency
//
// Only one Run at a time is possible in a process, because the control plane uses global settings. The functions that
// inspect a cluster from outside (Find, Stop, Client) may be called from any process and goroutine.
package local
