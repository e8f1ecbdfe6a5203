// Package logfile stores the output of a container in the log format of the container runtime interface (time,
// stream, F or P, text), with one file per attempt, and reads it with the options of `kubectl logs`.
//
//	In:   bytes of stdout and stderr; Options of a reader
//	Out:  a readable text file; a stream that ends or follows
//
// # Concurrency
//
// Two goroutines, one per stream, may write to a File, and any number may read it. The writer wakes followers, so
// there is no polling.
//
// k8s.io/cri-client/pkg/logs reads the same format, but see docs/adr/0018-kubelet-packages.md.
package logfile
