// Package recorder watches Jobs and nodes, and stores the records of the jobs' attempts and the changes of the nodes.
//
//	In:   Jobs with their pods, and nodes, from a cache; a spool; a database
//	Out:  records and changes of nodes in the spool and then in the database; a finalizer on Jobs; metrics
//
// # Invariants
//
//   - A Job with the finalizer cannot disappear before the records of its attempts are on the disk, even if it is deleted
//     while the recorder or the database is down. Admission adds the finalizer to new Jobs, and the recorder adds it to
//     all others that have not ended.
//   - An attempt may be appended to the spool several times, but the database stores its key once.
//   - A change of a node follows the last stored change of the node, also after a restart.
//   - A database that is down delays nothing but the records themselves.
//
// # Concurrency
//
// Reconciles of different jobs run in parallel. StoreUntilDone and NodeRecorder are a single goroutine each.
package recorder
