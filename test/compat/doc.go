// Package compat holds our types against Volcano's: every JSON field of volcano.sh/apis for Job, Command, PodGroup and
// Queue is in ours with the same JSON type, and objects survive a round trip through both.
//
// Volcano's module is v1.14.0, the newest that can be had. Fields of ours that it does not have are listed in the test,
// with their reason; a field that is neither there nor in the list fails it.
package compat
