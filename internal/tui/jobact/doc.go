// Package jobact is the keys that do something to jobs: suspend, resume, requeue,
// hold, release, cancel, delete. Jobs, Job detail, Explain and Overview have the same.
//
//	In:   the jobs that are meant
//	Out:  screen.Ask that names what will happen and to how many, then screen.Run
//
// Nothing is done here, and nothing without an answer.
package jobact
