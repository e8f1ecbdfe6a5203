// Package jobtrace computes the trace of a job that has ended, from the times that the API objects recorded. The trace
// shows how long the job was in each state.
//
//	In:   a Job before and after each change of its phase, with its PodGroup and its pods
//	Out:  History, the attempts to run the job; Trace, the spans
//
// # Invariants
//
//   - Pure: the results depend only on the arguments.
//   - A job has one trace. Its ID is the UID of the job, and the IDs of its spans are derived from the UID, so that
//     computing or sending the trace again does not make another one.
//   - The first span is the root. No span begins before its parent or ends after it.
//   - All times are whole seconds, because most times in the API are.
package jobtrace
