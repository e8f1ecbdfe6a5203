// Package listing answers who lists jobs, from what the daemon has in memory anyway: for the API server to write ten thousand Jobs and PodGroups out in JSON,
// and for the reader to read that, takes a second and more each.
//
// It is an aggregated API: the API server hands a request on to the daemon with the name of the user, whom it has authenticated; the daemon asks the API
// server whether that user may list the Jobs, the PodGroups and the Pods that the answer speaks of. The answer is a stream of package facts.
//
//	In:   the caches of the controllers; requests of the API server's aggregator
//	Out:  streams; 503 while there is no cache, and 429 while too many are under way, so that the reader asks the API server itself
//
// # Invariants
//
//   - Nobody is told of an object that he might not list himself.
//   - A job that was made before a request came is in its answer, and one that was removed before is not, unless one was made and one removed in the moment that a
//     watch takes. How old states are is not bounded but by the watch, as in every list from a cache.
//
// # Concurrency
//
// Several requests are answered at once, up to a number, and of one user up to half of it: each holds its list in memory. Objects of the caches are only read.
package listing
