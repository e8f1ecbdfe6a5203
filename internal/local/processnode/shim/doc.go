// Package shim is the first process of a container on a process node: the init that the node's process starts as a copy of itself.
//
//	In:   a socket at file descriptor 3 that carries Requests (and the files of a process's stdin, stdout and stderr)
//	Out:  Events on the same socket
//
// The init builds the container's root (an overlay over the machine's own, the volumes, /proc, /dev, /sys), starts the main
// process and, on request, others beside it, reaps whatever dies, and reports exits. When the main process ends, or the socket
// closes because the node's process is gone, it kills everything it can see and ends.
//
// # Invariants
//
//   - Only the standard library is imported. A package initialises as soon as its imports have, in the order of import paths, so
//     the hook in this package's init runs before those of k8s.io: a container's init costs some milliseconds and some megabytes,
//     not the start-up of a control plane.
//   - Nothing of a container outlives its init: it is the first process of a process-id namespace, or, where that is not
//     permitted, the sub-reaper of all its descendants.
//
// # Concurrency
//
// One goroutine reads requests, one reaps; a mutex around fork and the table of processes keeps an exit from being seen before
// the process is known.
package shim
