package optionvalue

import "strings"

// Switches is the maximum number of leaf switches for a job, and the time that the job may wait for suitable nodes.
type Switches struct {
	Count int64
	// Wait is the maximum time to wait for nodes that are connected by so few switches. Unlimited means forever.
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
