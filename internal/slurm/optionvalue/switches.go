package optionvalue

import "strings"

// Switches is the maximum number of leaf switches for a job, and how long the job may wait for nodes that satisfy it.
type Switches struct {
	Count int64
	// Wait is how long to wait for so few switches; Unlimited means forever.
	Wait Minutes
}

// ParseSwitches parses count[@time].
func ParseSwitches(text string) (Switches, error) {
	count, wait, timed := strings.Cut(text, "@")
	s := Switches{Wait: Unlimited}
	var err error
	if s.Count, err = ParseNumber(count); err != nil {
		return s, err
	}
	if timed {
		s.Wait, err = ParseTime(wait)
	}
	return s, err
}
