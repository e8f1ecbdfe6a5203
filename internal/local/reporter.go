package local

import "time"

// Reporter is told how a start goes on. Its methods are called one at a time.
type Reporter interface {
	// Ready says that a part is ready, and how long it took.
	Ready(part string, took time.Duration)
	// Note says something a person should know, for example what this machine
	// does not permit; one line.
	Note(line string)
	// Up says that everything is ready.
	Up(Record)
}
