// Package accounting defines the records of the accounting database: what is recorded about each attempt to run a job,
// how records are selected, and how the use of resources is summed up.
//
//	In:   -
//	Out:  Record, Query, UsageQuery, and the interface Store that the databases implement
//
// # Invariants
//
//   - Pure data: no client, clock or goroutine.
//   - A record never changes after it was stored. Its key and its end time follow from the API objects alone, so that
//     recording an attempt again gives the same record.
//   - All times are whole seconds.
package accounting
