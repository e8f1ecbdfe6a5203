// Package shim is the init of a container on a process node: the container's first process, which the node's process
// starts as a copy of itself.
//
//	In:   a socket at file descriptor 3 that carries Requests (and the files of a process's stdin, stdout and stderr)
//	Out:  Events on the same socket
//
// The init builds the container's root (an overlay over the machine's root, the volumes, /proc, /dev, /sys), starts the
// main process and, on request, additional processes. It reaps ended processes and reports exits. When the main process
// ends, or the socket closes because the node's process has ended, it kills all processes that it can see and ends.
//
// # Invariants
//
//   - The package imports only the standard library. Packages are initialized after their imports, in the order of
//     import paths, so this package's init runs before the ones of k8s.io. An init therefore costs a few milliseconds
//     and megabytes, not the startup of a control plane.
//   - No process of a container outlives its init, which is the first process of a process-ID namespace or, if that is
//     not permitted, the sub-reaper of all its descendants.
//
// # Concurrency
//
// One goroutine reads requests, one reaps. A mutex around fork and the process table ensures that an exit is handled
// only after the process is in the table.
package shim
