// Package store stores accounting records in SQLite or PostgreSQL.
//
//	In:   records and queries
//	Out:  a Store, whose records survive a crash of the process or the machine
//
// Both databases have the same tables, and the statements are the same text. Each month has its own tables: a file of
// SQLite, or partitions of PostgreSQL. A record, its document and its part of the use of resources are in the month in
// which it ended. Therefore a transaction concerns one month, and a month can be removed without reading it.
//
// # Invariants
//
//   - The stored use is the sum over the stored records: both change in the same transaction.
//   - A key is stored once in a month. The end of a record follows from its key, so a key is stored once.
//   - No method needs memory for all selected records.
//   - Schemas change by migrations only. A migration never changes after a release.
//
// # Concurrency
//
// All methods of a store may be called by several goroutines. Records are read without a transaction: each month is
// consistent in itself. DropMonth waits until no query reads the month. One process at a time uses a directory of SQLite.
// Several processes may use a database of PostgreSQL.
package store
