// Package job is the screen of one job: how it stands, its way since it was
// submitted, its pods, their logs, the events about it, and the object itself.
//
//	In:   one snapshot.Job, the lines of a log, the object as text
//	Out:  cells, what is to be streamed, actions on the job
package job
