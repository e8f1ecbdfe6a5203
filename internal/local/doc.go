// Package local is a whole cluster on one machine: where its state is kept,
// how it is started, watched, asked about and stopped.
//
//	In:   Settings (directory, port, nodes, components)
//	Out:  a running cluster, told about through a Reporter; Status, as data
//
// The parts are packages of their own: controlplane (etcd, API server,
// controllers), processnode and simnode (nodes), daemon (our scheduler,
// controllers and admission). This package starts them in order, stops them
// in reverse, and answers on a unix socket while they run.
//
// # Invariants
//
//   - One process a directory: it holds an exclusive lock for as long as it
//     lives, and the kernel lets go of the lock however that process ends.
//   - A directory is never written to, and never removed, unless it was empty
//     or carries our version file.
//   - Run returns only when every part it started has ended.
//
// # Concurrency
//
// Run may be called once at a time in a process (the control plane keeps
// global settings). The functions that look at a cluster from outside (Find,
// Stop, Client) may be called from anywhere.
package local
