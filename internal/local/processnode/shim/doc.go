// Package shim implements the init of a container on a process node. The init is the container's first process. The
// node's process starts it as a copy of itself.
//
//	In:   a socket at file descriptor 3 that carries Requests (and the files for stdin, stdout and stderr of a process)
//	Out:  Events on the same socket
//
// The init creates the container's root (an overlay over the machine's root, the volumes, /proc, /dev, /sys), starts
// the main process and, on request, additional processes. It reaps ended processes and reports their exits. When the
// main process ends, or when the socket is closed because the node's process has ended, the init kills all processes
// that it can see, and ends.
//
// # Invariants
//
//   - The package imports only the standard library. Packages are initialized after their imports, in the order of
//     import paths, so the init function of this package runs before those of k8s.io. Therefore, an init costs a
//     few milliseconds and megabytes, not the startup of a control plane.
//   - No process of a container outlives its init. The init is the first process of a process-ID namespace or, if
//     that is not permitted, the sub-reaper of all its descendants.
//
// # Concurrency
//
// One goroutine reads requests, another reaps. A mutex around fork and the process table ensures that an exit is
// handled only after the process has been added to the table.
package shim
