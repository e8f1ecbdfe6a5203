package model

import "time"

// Lost is a pod that a gang lost while it was running. Its resources may be held for its replacement.
type Lost struct {
	// Task contains only the pod's name and request. Other attributes, such as ports, are not held.
	Task *Task
	Node string
	// Since is when the loss was noticed; zero if it happened since the last cycle.
	Since time.Time
}

// forgetLost is the time after which a lost pod is dropped, even if resources are still held for it.
const forgetLost = time.Hour
