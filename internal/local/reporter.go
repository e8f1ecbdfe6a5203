package local

import "time"

// Reporter receives the progress of a start. Its methods are called one at a time.
type Reporter interface {
	// Ready reports that a part is ready and how long it took.
	Ready(part string, took time.Duration)
	// Note reports one line of information for the user, for example what this machine does not permit.
	Note(line string)
	// Up reports that everything is ready.
	Up(Record)
}
