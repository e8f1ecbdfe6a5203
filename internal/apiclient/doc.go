// Package apiclient contains the clients for the most frequent requests to the API server. They cost less processor
// time than client-go's own clients. docs/adr/0020-own-api-clients.md has the figures.
//
//		In:   connections, certificates and tokens from client-go's rest.Config
//		Out:  watch events of custom resources, and verdicts on writes, as client-go would return them
//
//	  - GroupClient reads custom resources, and decodes a watch event with one pass over each byte.
//	  - Writer sends writes of which only success or failure matters, and decodes no object.
//	  - MetadataClient is a client.Client that receives only metadata in response to frequent writes.
//	  - IsUnavailable recognizes errors that mean that the API server is temporarily unavailable.
//
// # Invariants
//
//   - Decoding a watch event gives the same result as with client-go, or an error. Data in any other format than the
//     API server's is passed to client-go's own decoder.
//   - A request of a Writer is the same as client-go's request for the same write.
//
// # Concurrency
//
// All clients may be used by several goroutines. A watch stream belongs to one goroutine, as in client-go.
package apiclient
