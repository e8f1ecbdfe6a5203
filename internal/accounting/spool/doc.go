// Package spool keeps accounting records and changes of nodes on disk until the database has stored them. A batch that
// Append has accepted survives a crash of the process and of the machine.
//
//	In:   records and changes of nodes
//	Out:  batches of them, oldest first
//
// # Invariants
//
//   - A batch is a file. It is complete or does not exist, because it is written under another name and then renamed.
//   - The total size of the files never exceeds the limit. A record that does not fit is rejected with ErrFull, and
//     nothing is lost: the Job still has its finalizer.
//   - A batch that was removed is gone. If the process crashes before that, the batch is stored again, which the
//     database ignores.
//
// # Concurrency
//
// Append may be called by several goroutines; records of concurrent calls are written together. Oldest and Remove are
// for a single reader.
package spool
