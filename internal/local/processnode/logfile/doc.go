// Package logfile keeps what a container prints: one file an attempt, in the format of the container runtime interface
// (time, stream, F or P, text), and reads it as `kubectl logs` asks.
//
//	In:   bytes of stdout and stderr; Options of a reader
//	Out:  a file a person can read; a stream that ends or follows
//
// # Concurrency
//
// A File may be written by two goroutines (one a stream) and read by any number; a follower is woken by the writer, nobody polls.
package logfile
