package local

import "time"

// Reporter receives the progress of a start. Its methods are never called concurrently.
type Reporter interface {
	// Ready is called when a part is ready, with the time that its start took.
	Ready(part string, took time.Duration)
	// Note is called with a line of information for the user, for example about a feature that this machine does not
	// permit.
	Note(line string)
	// Up is called when everything is ready.
	Up(Record)
}
