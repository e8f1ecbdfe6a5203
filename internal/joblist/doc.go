// Package joblist serves lists of jobs from the daemon's caches. For the API server to encode ten thousand Jobs and
// PodGroups as JSON, and for the client to decode them, takes a second and more each.
//
// The lists are an aggregated API: the API server forwards a request with the name of the authenticated user to the
// daemon, and the daemon checks with the API server whether that user may list the Jobs, PodGroups and Pods in the
// response. The response is a stream in the format of package jobsummary.
//
//	In:   the caches of the controllers; requests from the API server's aggregator
//	Out:  streams; status 503 while there is no cache, and 429 while too many requests are in progress, so that the client lists from the API server itself
//
// # Invariants
//
//   - A user never receives an object that the user may not list.
//   - A job created before a request is in the response, and a job deleted before it is not, unless one job was created
//     and another deleted within the delay of the watch. The age of job states is limited only by the watch, as in
//     every list from a cache.
//
// # Concurrency
//
// Several requests are served in parallel, up to a limit, and up to half of it for one user: each request holds its
// list in memory. Objects in the caches are only read.
package joblist
