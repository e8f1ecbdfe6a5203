// Package job implements the screen that shows one job: its state, its timeline, its pods and their logs, its events,
// and the object itself.
//
//	In:   one snapshot.Job, the lines of a log, the object as text
//	Out:  cells, the logs to stream, actions on the job
package job
