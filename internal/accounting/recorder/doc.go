// Package recorder watches Jobs and stores the records of their attempts.
//
//	In:   Jobs and their pods from a cache; a spool; a database
//	Out:  records in the spool and then in the database; a finalizer on Jobs; metrics
//
// # Invariants
//
//   - A Job with the finalizer cannot disappear before the records of its attempts are on the disk, even if it is deleted
//     while the recorder or the database is down. Admission adds the finalizer to new Jobs, and the recorder adds it to
//     all others that have not ended.
//   - An attempt may be appended to the spool several times, but the database stores its key once.
//   - A database that is down delays nothing but the records themselves.
//
// # Concurrency
//
// Reconciles of different jobs run in parallel. StoreUntilDone is a single goroutine.
package recorder
