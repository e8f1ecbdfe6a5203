// Package joblist serves lists of jobs from the daemon's caches. This saves time: encoding ten thousand Jobs and
// PodGroups as JSON takes the API server a second or more, and decoding them takes the client as long again.
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
//     and another deleted within the delay of the watch. As in every list from a cache, the states of jobs may be as
//     old as the delay of the watch.
//
// # Concurrency
//
// Several requests are served in parallel, up to a limit, of which one user may use half. The limit exists because each
// request holds its list in memory. Objects in the caches are only read.
package joblist
