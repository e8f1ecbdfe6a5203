// Package serve answers the queries of commands to the accounting database, as an aggregated API.
//
//	In:   requests from the API server's aggregator; the database
//	Out:  streams in the format of package wire
//
// # Invariants
//
//   - A user reads the records of another user only if the user may list allrecords.accounting.vc-batch.dev, and the use of
//     another user only with allusage. The API server forwards the requests of all users who may list records and usage.
//   - Without the database, the status is 503 with the reason. A stream that fails later is cut off, which the client
//     recognizes.
//
// # Concurrency
//
// Several requests are served in parallel.
package serve
